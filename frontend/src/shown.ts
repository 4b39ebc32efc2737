// The sample that the activations panel shows, cut out of the picture at the chosen step.

import { computed, signal } from "@preact/signals";
import { keptSamples, shownSample } from "./model/activations";
import { selfCheck } from "./model/layer";
import { ALL_GATES, asked, type Place } from "./selection";
import { activations, layer, series, step } from "./state";

/** The entry under the pointer, in any of the pictures over time. */
export const hovered = signal<Place | null>(null);

/** The unit of a place that is a timestep alone. */
const NO_UNIT = -1;

export function hoverColumn(column: number | null): void {
  hovered.value = column === null ? null : { unit: NO_UNIT, column, projected: false };
}

/** The column under the cross-hair of every picture over time. */
export const markedColumn = computed(() => (hovered.value ?? asked.pinned.value)?.column);

export const snapshot = computed(() => activations.state.value.value);

/** The chosen sample, or the last there is. */
export const sampleIndex = computed(() => {
  const last = snapshot.value ? Math.max(0, keptSamples(snapshot.value) - 1) : 0;
  return Math.min(asked.sample.value, last);
});

export const shown = computed(() => snapshot.value && shownSample(snapshot.value, sampleIndex.value, series.activations.value));

/** Whether the gates that are shown are the framework's own. */
export const selfChecked = computed(() => {
  const [data, at] = [series.activations.value, step.value];
  if (!layer.value || !data || at === undefined) return null;
  const ends = ["min", "max"].map((column) => Math.abs(data.at(at, "hidden_state", column)));
  return selfCheck(layer.value, data.recordAt(at, "difference"), Math.max(...ends));
});

/** The chosen gate; all, where this layer has no such gate. */
export const gate = computed(() => {
  const known = shown.value?.rows.some(({ key }) => key === asked.gate.value);
  return known ? asked.gate.value : ALL_GATES;
});
