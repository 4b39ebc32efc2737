// What the pictures of the activations draw: the chosen sample, its units in the chosen order.

import { computed } from "@preact/signals";
import { differenceAt } from "./differences";
import { possibleKinds, sampleOfKind, type MapKind } from "./model/mapKinds";
import { ordered } from "./model/unitOrder";
import { unitNumbers } from "./model/units";
import { ALL_GATES, asked } from "./selection";
import { sampleIndex, shown, snapshot } from "./shown";
import { series } from "./state";

/** The numbers of single units at the chosen step. */
export const units = computed(() => snapshot.value && unitNumbers(snapshot.value));

/** What can be shown of this sample, and what is. */
export const mapKinds = computed((): MapKind[] => (snapshot.value ? possibleKinds(snapshot.value, sampleIndex.value) : []));
export const mapKind = computed(() => (mapKinds.value.includes(asked.maps.value) ? asked.maps.value : "gates"));

const unordered = computed(() => {
  if (!snapshot.value || mapKind.value === "gates") return shown.value;
  return sampleOfKind(snapshot.value, sampleIndex.value, mapKind.value, series.activations.value);
});

/** The difference that is drawn, a sentence why it cannot be, or undefined where nothing is subtracted. */
const compared = computed(() => snapshot.value && differenceAt(snapshot.value, sampleIndex.value, mapKind.value));
export const difference = computed(() => (typeof compared.value === "string" ? undefined : compared.value));
export const noDifference = computed(() => (typeof compared.value === "string" ? compared.value : ""));

const drawn = computed(() => difference.value?.sample ?? unordered.value);

/** The row that is shown alone; all, where there is no such row. */
export const mapGate = computed(() => {
  const known = unordered.value?.rows.some(({ key }) => key === asked.gate.value);
  return known ? asked.gate.value : ALL_GATES;
});

export const maps = computed(() => {
  if (!drawn.value || !units.value) return undefined;
  return ordered(drawn.value, asked.order.value, mapGate.value, units.value);
});
