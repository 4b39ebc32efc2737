// Training steps that can be chosen, and the picture that belongs to one.

import { bisectRight } from "d3-array";
import { stepAxis } from "./axis";

/** All steps of several sorted lists, upwards, each once. */
export function unionOfSteps(...lists: readonly (readonly number[])[]): number[] {
  return Array.from(new Set(lists.flat())).sort((a, b) => a - b);
}

/** The position of the last step at or before `step`; the first where all are later, -1 for an empty list. */
export function positionAt(steps: readonly number[], step: number): number {
  return steps.length === 0 ? -1 : Math.max(0, bisectRight(steps as number[], step) - 1);
}

/**
 * At most `most` of the entries of a sorted list: the first, and others before the last, evenly spaced
 * by the logarithm of their step.
 */
export function landmarks<Entry extends { readonly step: number }>(list: readonly Entry[], most: number): Entry[] {
  const steps = list.map(({ step }) => step);
  const scale = stepAxis("log", steps[0] ?? 0, steps.at(-1) ?? 0);
  const chosen = Array.from({ length: most }, (_, index) => nearestPosition(steps, index / most, scale));
  return list.filter((_, position) => position === 0 || chosen.includes(position));
}

/** The position of the step next to a place on the axis, by `scale`'s own distances. */
export function nearestPosition(steps: readonly number[], place: number, scale: (step: number) => number): number {
  let best = -1;
  let distance = Infinity;
  steps.forEach((step, position) => {
    const own = Math.abs(scale(step) - place);
    if (own < distance) [best, distance] = [position, own];
  });
  return best;
}

/** The positions of the steps that lie in a span, its ends included; of all where there is none. */
export function positionsWithin(steps: readonly number[], span: readonly [number, number] | null): number[] {
  return steps.flatMap((step, position) => (span === null || (step >= span[0] && step <= span[1]) ? [position] : []));
}

const MOST_LINES = 60;

/** So many of a list's entries as a table that is read has lines: evenly chosen, the first and the last among them. */
export function thinned<Entry>(list: readonly Entry[]): Entry[] {
  const every = Math.ceil(list.length / MOST_LINES);
  return list.filter((_, index) => index % every === 0 || index === list.length - 1);
}
