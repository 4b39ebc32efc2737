// The tiles of the chosen run, for the number that was chosen.

import { computed } from "@preact/signals";
import { healthRows, topOf, type Measure } from "./model/health";
import { asked } from "./selection";
import { health, layerIds } from "./state";

export const rows = computed(() => healthRows(health.state.value.value?.layers ?? [], layerIds.value, asked.health.value));

/** Where the scale of each measure that is shown ends. */
export const tops = computed((): ReadonlyMap<Measure, number> => {
  const measures = new Set(rows.value.flatMap(({ tiles }) => tiles.map(({ measure }) => measure)));
  return new Map(Array.from(measures, (measure) => [measure, topOf(rows.value, measure)]));
});

/** Tiles side by side in the row that has most. */
export const mostTiles = computed(() => Math.max(0, ...rows.value.map(({ tiles }) => tiles.length)));
