// What the pictures of the activations show, and in which order.

import { gate } from "../shown";
import { sortingRow, UNIT_ORDERS, type UnitOrder } from "../model/unitOrder";
import { maps, units } from "../maps";
import { asked } from "../selection";
import { Segmented } from "./parts";

export function MapTools() {
  return (
    <div class="map-tools">
      <OrderPicker />
    </div>
  );
}

/** Memory only for cells with a gate that keeps. */
function OrderPicker() {
  const sorting = maps.value && sortingRow(maps.value, gate.value);
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
