// What the pictures of the activations show, and in which order.

import { comparableSteps } from "../differences";
import { mapGate, mapKind, mapKinds, maps, noDifference, units } from "../maps";
import { keptSamples, sampleName } from "../model/activations";
import { subtractedOf, subtractedText, type Subtracted } from "../model/difference";
import { count } from "../model/format";
import type { MapKind } from "../model/mapKinds";
import { sortingRow, UNIT_ORDERS, type UnitOrder } from "../model/unitOrder";
import { asked } from "../selection";
import { sampleIndex, snapshot } from "../shown";
import { Segmented, Select } from "./parts";

export function MapTools() {
  return (
    <div class="map-tools">
      <KindPicker />
      <OrderPicker />
      <MinusPicker />
      {asked.maps.value !== mapKind.value && <span class="quiet">{NOT_HERE[asked.maps.value]}</span>}
      {noDifference.value && (
        <span class="quiet" role="status" data-testid="no-difference">
          {noDifference.value}
        </span>
      )}
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

/** The other samples of this picture, and the same sample at other training steps. */
function MinusPicker() {
  const payload = snapshot.value;
  if (!payload) return null;
  const chosen = subtractedText(asked.minus.value);
  const samples = Array.from({ length: keptSamples(payload) }, (_, sample) => ({ value: `sample.${sample}`, text: sampleName(payload, sample) }));
  const steps = comparableSteps.value.map((step) => ({ value: `step.${step}`, text: `training step ${count(step)}` }));
  const shown = [`sample.${sampleIndex.value}`, `step.${payload.header.step}`];
  const others = [...samples, ...steps].filter(({ value }) => value === chosen || !shown.includes(value));
  if (asked.minus.value && !others.some(({ value }) => value === chosen)) others.push({ value: chosen, text: missingName(asked.minus.value) });
  if (others.length === 0) return null;
  return (
    <Select
      label="minus"
      testId="minus"
      chosen={chosen}
      options={[{ value: "", text: "nothing" }, ...others]}
      onChoose={(value) => (asked.minus.value = subtractedOf(value))}
    />
  );
}

/** Of what a link asked for and this picture does not have. */
function missingName({ kind, number }: Subtracted): string {
  return kind === "step" ? `training step ${count(number)}` : `sample ${number}`;
}
