// The step axis: from a training step to a share 0..1 of the width.

import type { ScalarPoint } from "../api";
import { bisectRight, ticks } from "d3-array";
import type { Tick } from "./figure";
import { compactCount } from "./format";

export type AxisKind = "linear" | "log";

const MOST_TICKS = 5;

/** "log" is asinh: like a logarithm, but step 0 has a place. */
export function stepAxis(kind: AxisKind, first: number, last: number): (step: number) => number {
  const bend = kind === "log" ? Math.asinh : (step: number) => step;
  const [low, high] = [bend(first), bend(last)];
  return (step) => (high > low ? (bend(step) - low) / (high - low) : 0.5);
}

/** A few round training steps at their places 0..1. */
export function stepTicks(kind: AxisKind, first: number, last: number): Tick[] {
  const place = stepAxis(kind, first, last);
  const round = kind === "log" ? [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7] : ticks(first, last, 4);
  const inside = (last > first ? round : [first]).filter((step) => step >= first && step <= last && Number.isInteger(step));
  const every = Math.ceil(inside.length / MOST_TICKS);
  return inside.filter((_, index) => index % every === 0).map((step) => ({ at: place(step), text: compactCount(step) }));
}

/**
 * Points whose steps count something else (Keras's epoch_* tags count epochs), moved to training steps
 * by the time at which they were written. Between two known moments the steps are spread evenly.
 */
export function alignedByTime(points: readonly ScalarPoint[], clock: readonly ScalarPoint[]): ScalarPoint[] {
  if (clock.length === 0) return [...points];
  const times = clock.map(([, wallTime]) => wallTime);
  return points.map(([, wallTime, value]) => {
    const next = bisectRight(times, wallTime);
    const [before, after] = [clock[Math.max(0, next - 1)], clock[Math.min(clock.length - 1, next)]];
    return [stepBetween(before, after, wallTime), wallTime, value];
  });
}

function stepBetween(before: ScalarPoint | undefined, after: ScalarPoint | undefined, wallTime: number): number {
  if (!before || !after) return NaN;
  const span = after[1] - before[1];
  const share = span > 0 ? Math.min(1, Math.max(0, (wallTime - before[1]) / span)) : 0;
  return before[0] + share * (after[0] - before[0]);
}
