// The row of the weights whose distribution is drawn, and its shape in words at each training step.

import { computed, effect } from "@preact/signals";
import { fetchShapes, type Shapes } from "./api";
import { shownRow, weightRows } from "./model/weightRows";
import { resource } from "./resource";
import { asked } from "./selection";
import { calls, generation, layerId, run, series } from "./state";

export const shapes = resource<Shapes>();

export const distributionRows = computed(() => (series.weights.value ? weightRows(series.weights.value) : []));
export const distributionRow = computed(() => shownRow(distributionRows.value, asked.row.value, asked.gate.value));

/** Starts fetching the words for the row, and follows the choice from then on. */
export function startDescribing(): void {
  const runName = computed(() => run.value?.run);
  const weightsCall = computed(() => calls.value.weights[0] ?? 0);
  effect(() => {
    const [name, id, call, row] = [runName.value, layerId.value, weightsCall.value, distributionRow.value];
    void generation.value;
    if (name && row) shapes.load(JSON.stringify([name, id, call, row]), (abort) => fetchShapes(name, id, "weights", call, row, abort));
    else shapes.clear();
  });
}
