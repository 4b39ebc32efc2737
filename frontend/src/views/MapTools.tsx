// What the pictures of the activations show, and in which order.

import { mapGate, mapKind, mapKinds, maps, units } from "../maps";
import type { MapKind } from "../model/mapKinds";
import { sortingRow, UNIT_ORDERS, type UnitOrder } from "../model/unitOrder";
import { asked } from "../selection";
import { Segmented } from "./parts";

export function MapTools() {
  return (
    <div class="map-tools">
      <KindPicker />
      <OrderPicker />
      {asked.maps.value !== mapKind.value && <span class="quiet">{NOT_HERE[asked.maps.value]}</span>}
    </div>
  );
}

const KINDS: Readonly<Record<MapKind, { readonly text: string; readonly title: string }>> = {
  gates: { text: "gates and states", title: "Each gate and state as it was" },
  written: { text: "kept and written", title: "Also what the new state is made of: what was kept of the old one, and what was written" },
  preactivations: { text: "pre-activations", title: "Each gate before its function: how far it is from closing or opening" },
};

const NOT_HERE: Readonly<Record<MapKind, string>> = {
  gates: "",
  written: "What was kept and what was written cannot be told apart here.",
  preactivations: "Pre-activations are not stored for this sample: the picture had no room for them.",
};

/** Only what this sample has the numbers for. */
function KindPicker() {
  if (mapKinds.value.length < 2) return null;
  return (
    <span class="tool">
      <span class="quiet">show</span>
      <Segmented
        label="What the pictures show"
        testId="maps"
        choices={mapKinds.value.map((key) => ({ key, ...KINDS[key] }))}
        chosen={mapKind.value}
        onChoose={(key) => (asked.maps.value = key)}
      />
    </span>
  );
}

/** Memory only for cells with a gate that keeps. */
function OrderPicker() {
  const sorting = maps.value && sortingRow(maps.value, mapGate.value);
  const titles: Readonly<Record<UnitOrder, string>> = {
    index: "As the layer has them",
    mean: `The largest mean of ${sorting?.name ?? "the gate"} in this sample on top`,
    memory: "The units that remember longest on top",
  };
  const orders = UNIT_ORDERS.filter((order) => order !== "memory" || units.value?.survival);
  return (
    <span class="tool">
      <span class="quiet">units by</span>
      <Segmented
        label="Order of the units"
        testId="order"
        choices={orders.map((key) => ({ key, text: key === "mean" && sorting ? `mean ${sorting.name}` : key, title: titles[key] }))}
        chosen={asked.order.value}
        onChoose={(key) => (asked.order.value = key)}
      />
    </span>
  );
}
