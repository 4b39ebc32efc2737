// What is subtracted from the sample that the activations panel shows.

import { computed, effect } from "@preact/signals";
import type { ActivationsHeader } from "./api";
import { keptSamples, sampleWord } from "./model/activations";
import { differenceOf, type Difference } from "./model/difference";
import { count } from "./model/format";
import { possibleKinds, sampleOfKind, type MapKind } from "./model/mapKinds";
import { allPictures } from "./model/pictures";
import { resource } from "./resource";
import type { Payload } from "./safetensors";
import { asked } from "./selection";
import { snapshot } from "./shown";
import { fetchPicture, generation, series, snapshots } from "./state";

export const otherStep = resource<Payload<ActivationsHeader>>();

/** The training steps that have a picture. */
export const comparableSteps = computed(() => allPictures(snapshots.activations.state.value.value).map(({ step }) => step));

const otherEntry = computed(() => {
  const minus = asked.minus.value;
  if (minus?.kind !== "step") return undefined;
  return allPictures(snapshots.activations.state.value.value).find(({ step }) => step === minus.number);
});

/** Whether that of another training step has to be there first. */
export const needsOtherStep = computed(() => otherEntry.value !== undefined);

/** Starts fetching the picture of the other training step, and follows the choice from then on. */
export function startSubtracting(): void {
  effect(() => {
    const entry = otherEntry.value;
    void generation.value;
    if (entry) otherStep.load(JSON.stringify(entry), (abort) => fetchPicture<ActivationsHeader>(entry, abort));
    else otherStep.clear();
  });
}

/** The difference from `from`'s sample, a sentence why there is none, or undefined: nothing is subtracted, or not yet. */
export function differenceAt(from: Payload<ActivationsHeader>, sample: number, kind: MapKind): Difference | string | undefined {
  const minus = asked.minus.value;
  if (!minus) return undefined;
  const isStep = minus.kind === "step";
  if (isStep && !otherEntry.value && snapshots.activations.state.value.value) return `There is no picture of training step ${count(minus.number)}.`;
  const other = isStep ? otherStep.state.value.value : from;
  if (!other) return undefined;
  const [otherSample, word] = [isStep ? sample : minus.number, sampleWord(other)];
  if (isStep && word !== sampleWord(from)) return "The rows of one picture are the probe's samples and those of the other are not: they cannot be subtracted.";
  if (keptSamples(other) <= otherSample) return `The picture of training step ${count(other.header.step)} does not keep ${word} ${otherSample}.`;
  if (!possibleKinds(other, otherSample).includes(kind)) return "What the pictures show is not stored for what should be subtracted.";
  const name = isStep
    ? `training step ${count(from.header.step)} − training step ${count(other.header.step)}`
    : `${word} ${sample} − ${word} ${otherSample}`;
  const [mine, theirs] = [sampleOfKind(from, sample, kind, series.activations.value), sampleOfKind(other, otherSample, kind, series.activations.value)];
  return differenceOf(mine, theirs, name);
}

/** Whether the probe was another one at that training step, so that another sample is subtracted. */
export const probeChanged = computed(() => {
  const [minus, data, from] = [asked.minus.value, series.activations.value, snapshot.value];
  if (minus?.kind !== "step" || !data || !from) return false;
  const [one, other] = [data.recordAt(from.header.step, "probe_hash"), data.recordAt(minus.number, "probe_hash")];
  return Number.isFinite(one) && Number.isFinite(other) && one !== other;
});
