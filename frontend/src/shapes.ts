// The row of the weights whose distribution is drawn, and its shape in words at each training step.

import { computed, effect } from "@preact/signals";
import { fetchShapes, type Shapes } from "./api";
import { shownRow, weightRows } from "./model/weightRows";
import { resource } from "./resource";
import { asked } from "./selection";
import { calls, generation, isDrawn, layerId, run, series } from "./state";

export const shapes = resource<Shapes>();

export const distributionRows = computed(() => (series.weights.value ? weightRows(series.weights.value) : []));
export const distributionRow = computed(() => shownRow(distributionRows.value, asked.row.value, asked.gate.value));

/** Starts fetching the words for the row, and follows the choice from then on. */
export function startDescribing(): void {
  const runName = computed(() => run.value?.run);
  const weightsCall = computed(() => calls.value.weights[0] ?? 0);
  let described = "";
  effect(() => {
    const [name, id, call, row] = [runName.value, layerId.value, weightsCall.value, distributionRow.value];
    const subject = JSON.stringify([name, id, call, row]);
    const question = `${generation.value} ${subject}`;
    if (!name || !row) shapes.clear();
    if (!name || !row || !isDrawn.value || question === described) return;
    described = question;
    shapes.load(subject, (abort) => fetchShapes(name, id, "weights", call, row, abort));
  });
}
