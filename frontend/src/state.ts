// What is fetched for the selection: signals and the effects that keep them up to date.

import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { greatest } from "d3-array";
import * as api from "./api";
import { allPictures, pictureAt, startPicture } from "./model/pictures";
import { records } from "./model/records";
import { landmarks, positionAt, unionOfSteps } from "./model/steps";
import { layerTree, treeOrder } from "./model/tree";
import { resource, type Resource } from "./resource";
import type { Payload } from "./safetensors";
import { asked } from "./selection";

const KEPT_SNAPSHOTS = 80;
const COMPARED_GRADIENTS = 4;

/** Counts TensorBoard's reloads; whatever is fetched is fetched again when it rises. */
export const generation = signal(0);

export const runs = resource<readonly api.RunSummary[]>();
export const health = resource<api.Health>();
export const scalar = resource<readonly api.ScalarPoint[]>();
export const statistics = perKind(() => resource<Payload<api.Series>>());
export const snapshots = perPictureKind(() => resource<api.SnapshotList>());
export const activations = resource<Payload<api.ActivationsHeader>>();
export const weights = resource<Payload<api.WeightsHeader>>();
export const gradients = resource<Payload<api.GradientsHeader>>();
/** A few earlier pictures that the chosen one is compared with. */
export const earlierGradients = resource<readonly Payload<api.GradientsHeader>[]>();
/** The weights that a change is measured from; nothing while values are shown. */
export const weightsBefore = resource<Payload<api.WeightsHeader>>();

export const run = computed(() => {
  const list = runs.state.value.value ?? [];
  const wanted = asked.run.value;
  return list.find((one) => one.run === wanted) ?? newest(list);
});
export const tree = computed(() => layerTree((run.value?.layers ?? []).map(({ id }) => id)));
export const layerIds = computed(() => treeOrder(tree.value));
export const layerId = computed(() => {
  const ids = layerIds.value;
  return ids.includes(asked.layer.value) ? asked.layer.value : (ids[0] ?? "");
});
export const calls = computed(() => {
  const kinds = run.value?.layers.find(({ id }) => id === layerId.value)?.kinds;
  return perKind((kind) => kinds?.[kind]?.calls ?? []);
});
export const call = computed(() => chosenCall(calls.value.activations));
export const gradientsCall = computed(() => chosenCall(calls.value.gradients));
export const layer = computed(() => {
  const layers = health.state.value.value?.layers ?? [];
  return layers.find((entry) => entry.layer.id === layerId.value)?.layer;
});

export const series = perKind((kind) => {
  const { state } = statistics[kind];
  return computed(() => (state.value.value ? records(state.value.value) : undefined));
});

/** Each kind's pictures in the order of their steps, the first one among them. */
const pictures = perPictureKind((kind) => {
  const { state } = snapshots[kind];
  return computed(() => allPictures(state.value.value));
});
export const pictureSteps = computed(() =>
  unionOfSteps(...Object.values(pictures).map((list) => list.value.map(({ step: at }) => at))),
);
/** The steps that can be chosen: those with a picture, or where no picture can be read, those with numbers. */
export const steps = computed(() => {
  if (pictureSteps.value.length > 0) return pictureSteps.value;
  return unionOfSteps(...Object.values(series).map((one) => one.value?.steps ?? []));
});
export const position = computed(() => positionAt(steps.value, asked.step.value ?? Infinity));
export const step = computed(() => steps.value[position.value]);

/** The picture at the chosen step, or the last one before it. */
export const picture = perPictureKind((kind) => computed(() => pictureAt(pictures[kind].value, step.value)));
/** The same for all chosen steps, so that few pictures are fetched and the lines stay. */
const comparedGradients = computed(() => {
  const chosen = picture.gradients.value?.step ?? -Infinity;
  return landmarks(pictures.gradients.value, COMPARED_GRADIENTS).filter(({ step: at }) => at < chosen);
});
export const previousWeights = computed(() => {
  const list = pictures.weights.value;
  return picture.weights.value && list[list.indexOf(picture.weights.value) - 1];
});
export const firstWeights = computed(() => startPicture(snapshots.weights.state.value.value));

/** Whether tiles and the picture are there: what takes the server longer is asked only then. */
export const isDrawn = computed(() => {
  const { value, error } = health.state.value;
  return (value !== undefined || error !== undefined) && !activations.state.value.loading;
});

function chosenCall(known: readonly number[]): number {
  return known.includes(asked.call.value) ? asked.call.value : (known[0] ?? 0);
}

function newest(list: readonly api.RunSummary[]): api.RunSummary | undefined {
  return greatest(list, (one) => one.last_wall_time);
}

/** Starts fetching; from then on each change of the selection fetches what it needs. */
export function startFetching(): void {
  effect(() => {
    void generation.value;
    runs.load("runs", api.fetchRuns);
  });
  effect(() => {
    // Into the URL, so that a link and a reload show the same, whatever comes later.
    if (!asked.run.value) asked.run.value = runName.value;
    if (!asked.layer.value) asked.layer.value = layerId.value;
  });
  effect(() => {
    const name = runName.value;
    void generation.value;
    if (name) health.load(name, (abort) => api.fetchHealth(name, abort));
  });
  effect(() => {
    const name = asked.scalar.value;
    void generation.value;
    if (name) scalar.load(JSON.stringify(name), (abort) => api.fetchScalars(name.run, name.tag, abort));
    else scalar.clear();
  });
  followKind("activations", call);
  followKind("gradients", gradientsCall);
  followKind("weights", firstCall("weights"));
  followKind("training_gradients", firstCall("training_gradients"));
  followPicture(activations, picture.activations);
  followPicture(weights, picture.weights);
  followPicture(gradients, picture.gradients);
  followPictures(earlierGradients, comparedGradients);
  followPicture(
    weightsBefore,
    computed(() => ({ value: undefined, start: firstWeights.value, previous: previousWeights.value })[asked.weights.value]),
  );
}

/** A signal of its own, so that a reload that changes only steps does not count as another run. */
const runName = computed(() => run.value?.run ?? "");

function firstCall(kind: api.Kind): ReadonlySignal<number> {
  return computed(() => calls.value[kind][0] ?? 0);
}

function followKind(kind: api.Kind, ofCall: ReadonlySignal<number>): void {
  const list = kind === "training_gradients" ? undefined : { kind, resource: snapshots[kind] };
  const written = computed(() => calls.value[kind].length > 0);
  effect(() => {
    const [name, id, number] = [runName.value, layerId.value, ofCall.value];
    void generation.value;
    if (!written.value) {
      statistics[kind].clear();
      list?.resource.clear();
      return;
    }
    const question = JSON.stringify([name, id, number]);
    statistics[kind].load(question, (abort) => api.fetchStatistics(name, id, kind, number, abort));
    list?.resource.load(question, (abort) => api.fetchSnapshots(name, id, list.kind, number, abort));
  });
}

function followPicture<Header>(target: Resource<Payload<Header>>, entry: ReadonlySignal<api.SnapshotEntry | undefined>): void {
  follow(target, entry, (wanted, abort) => fetchPicture<Header>(wanted, abort), keptPicture<Header>);
}

function followPictures<Header>(
  target: Resource<readonly Payload<Header>[]>,
  entries: ReadonlySignal<readonly api.SnapshotEntry[]>,
): void {
  const fetchAll = (wanted: readonly api.SnapshotEntry[], abort: AbortSignal) => Promise.all(wanted.map((entry) => fetchPicture<Header>(entry, abort)));
  follow(target, entries, fetchAll, (wanted) => {
    const all = wanted.flatMap((entry) => keptPicture<Header>(entry) ?? []);
    return all.length === wanted.length ? all : undefined;
  });
}

/** What is at hand is shown at once; while the next answer about the same layer is on its way, the last one stays. */
function follow<Wanted, Value>(
  target: Resource<Value>,
  entry: ReadonlySignal<Wanted | undefined>,
  fetcher: (wanted: Wanted, abort: AbortSignal) => Promise<Value>,
  atHand: (wanted: Wanted) => Value | undefined,
): void {
  const subject = computed(() => JSON.stringify([runName.value, layerId.value, call.value]));
  // By content: a reload makes new entries that are the same pictures.
  const question = computed(() => (entry.value ? subject.value + JSON.stringify(entry.value) : ""));
  let shown = "";
  effect(() => {
    const asking = question.value;
    const wanted = entry.peek();
    const known = wanted && atHand(wanted);
    if (wanted && known) target.answer(asking, known, (abort) => fetcher(wanted, abort));
    else if (wanted) target.load(asking, (abort) => fetcher(wanted, abort), subject.peek() === shown);
    else target.clear();
    shown = subject.peek();
  });
}

const kept = new Map<string, Payload<unknown>>();

/** A run that was restarted writes the same step again, at another time. */
function nameOf({ key, wall_time: wallTime }: api.SnapshotEntry): string {
  return `${key} ${wallTime}`;
}

function keptPicture<Header>(entry: api.SnapshotEntry): Payload<Header> | undefined {
  return kept.get(nameOf(entry)) as Payload<Header> | undefined;
}

/** A picture; the newest ones are kept. */
export async function fetchPicture<Header>(entry: api.SnapshotEntry, abort: AbortSignal): Promise<Payload<Header>> {
  const known = keptPicture<Header>(entry);
  if (known) return known;
  const fetched = await api.fetchSnapshot<Header>(entry.key, abort);
  kept.set(nameOf(entry), fetched);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_SNAPSHOTS && oldest !== undefined) kept.delete(oldest);
  return fetched;
}

function perKind<Value>(make: (kind: api.Kind) => Value): Readonly<Record<api.Kind, Value>> {
  return { ...perPictureKind(make), training_gradients: make("training_gradients") };
}

function perPictureKind<Value>(make: (kind: api.PictureKind) => Value): Readonly<Record<api.PictureKind, Value>> {
  return { activations: make("activations"), gradients: make("gradients"), weights: make("weights") };
}
