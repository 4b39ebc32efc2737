// What the pictures of the activations draw: the chosen sample, its units in the chosen order.

import { computed } from "@preact/signals";
import { ordered } from "./model/unitOrder";
import { unitNumbers } from "./model/units";
import { asked } from "./selection";
import { gate, shown, snapshot } from "./shown";

/** The numbers of single units at the chosen step. */
export const units = computed(() => snapshot.value && unitNumbers(snapshot.value));

export const maps = computed(() => {
  if (!shown.value || !units.value) return undefined;
  return ordered(shown.value, asked.order.value, gate.value, units.value);
});
