// The line above the scrubber: the loss in our own records, or the scalar that was chosen instead.

import { computed } from "@preact/signals";
import type { ScalarPoint } from "./api";
import { alignedByTime, stepAxis, stepTicks } from "./model/axis";
import { asked } from "./selection";
import { health, scalar, steps } from "./state";

interface Line {
  readonly name: string;
  readonly loading: boolean;
  readonly points: readonly ScalarPoint[];
}

/** Keras counts epochs in these tags, not training steps. */
const EPOCH_TAG = /(^|\/)epoch_/;

export const loss = computed<Line>(() => {
  const { value: { loss: own } = { loss: [] }, loading } = health.state.value;
  const name = asked.scalar.value;
  if (!name) return { name: "loss", loading, points: own };
  const { value: points = [], loading: scalarLoading } = scalar.state.value;
  const aligned = EPOCH_TAG.test(name.tag) ? alignedByTime(points, own) : points;
  return { name: name.tag, loading: scalarLoading, points: aligned };
});

/** The first and the last training step, with room for all pictures and for the whole line. */
const span = computed((): readonly [number, number] => {
  const line = loss.value.points;
  const first = Math.min(steps.value[0] ?? 0, line[0]?.[0] ?? Infinity);
  const last = Math.max(steps.value.at(-1) ?? 0, line.at(-1)?.[0] ?? -Infinity);
  return [first, last];
});

/** From a training step to its place 0..1. */
export const axis = computed(() => stepAxis(asked.axis.value, ...span.value));
export const axisTicks = computed(() => stepTicks(asked.axis.value, ...span.value));

/** The same for the steps that the weights' numbers are drawn from and to. */
const weightsSpan = computed((): readonly [number, number] => {
  const [first, last] = span.value;
  const [from, to] = asked.span.value ?? [first, last];
  return from <= last && to >= first ? [Math.max(from, first), Math.min(to, last)] : [from, to];
});
export const weightsAxis = computed(() => stepAxis(asked.axis.value, ...weightsSpan.value));
export const weightsTicks = computed(() => stepTicks(asked.axis.value, ...weightsSpan.value));

export const drawn = computed(() => ({
  places: loss.value.points.map(([step]) => axis.value(step)),
  values: loss.value.points.map(([, , value]) => value),
}));
