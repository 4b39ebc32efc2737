// The sample that the activations panel shows, cut out of the picture at the chosen step.

import { computed, signal } from "@preact/signals";
import { keptSamples, shownSample } from "./model/activations";
import { ALL_GATES, asked, type Place } from "./selection";
import { activations, series } from "./state";

/** The entry under the pointer, in any of the pictures. */
export const hovered = signal<Place | null>(null);

export const snapshot = computed(() => activations.state.value.value);

/** The chosen sample, or the last there is. */
export const sampleIndex = computed(() => {
  const last = snapshot.value ? Math.max(0, keptSamples(snapshot.value) - 1) : 0;
  return Math.min(asked.sample.value, last);
});

export const shown = computed(() => snapshot.value && shownSample(snapshot.value, sampleIndex.value, series.activations.value));

/** The chosen gate; all, where this layer has no such gate. */
export const gate = computed(() => {
  const known = shown.value?.rows.some(({ key }) => key === asked.gate.value);
  return known ? asked.gate.value : ALL_GATES;
});
