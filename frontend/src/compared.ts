// What is fetched of the run that the chosen one is compared with.

import { computed, effect } from "@preact/signals";
import * as api from "./api";
import { allPictures, pictureAt } from "./model/pictures";
import { resource } from "./resource";
import type { Payload } from "./safetensors";
import { asked } from "./selection";
import { call, fetchPicture, generation, layerId, run, runs, step } from "./state";

export const otherHealth = resource<api.Health>();
export const otherSnapshots = resource<api.SnapshotList>();
export const otherActivations = resource<Payload<api.ActivationsHeader>>();

/** The run that was asked for, if it is another one. */
export const otherRun = computed(() => {
  const found = runs.state.value.value?.find((one) => one.run === asked.other.value);
  return found?.run === run.value?.run ? undefined : found;
});

/** Whether the other run has the chosen layer, with activations. */
export const hasPartner = computed(() => partner.value !== undefined);
const partner = computed(() => otherRun.value?.layers.find(({ id }) => id === layerId.value)?.kinds.activations);

/** The other run's picture at the chosen training step, or the last one before it. */
export const otherPicture = computed(() => {
  const list = otherSnapshots.state.value.value;
  return list && step.value !== undefined ? pictureAt(allPictures(list), step.value) : undefined;
});

/** Starts fetching; from then on each change of the selection fetches what it needs. */
export function startComparing(): void {
  effect(() => {
    const name = otherRun.value?.run;
    void generation.value;
    if (name) otherHealth.load(name, (abort) => api.fetchHealth(name, abort));
    else otherHealth.clear();
  });
  effect(() => {
    const [name, id] = [otherRun.value?.run, layerId.value];
    const number = partner.value?.calls.includes(call.value) ? call.value : (partner.value?.calls[0] ?? 0);
    void generation.value;
    if (name && hasPartner.value) otherSnapshots.load(JSON.stringify([name, id, number]), (abort) => api.fetchSnapshots(name, id, "activations", number, abort));
    else otherSnapshots.clear();
  });
  effect(() => {
    const entry = otherPicture.value;
    if (entry) otherActivations.load(JSON.stringify(entry), (abort) => fetchPicture<api.ActivationsHeader>(entry, abort), true);
    else otherActivations.clear();
  });
}
