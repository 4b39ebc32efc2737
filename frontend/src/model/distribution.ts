// The distribution of a row of numbers at each training step: its bins, the range to draw, and what lies beyond.

import { max, median, min } from "d3-array";
import type { Span } from "./figure";
import { count, percent, plural, short } from "./format";
import type { Records } from "./records";

/** What was counted at one training step: 32 bins of equal width between two bounds, and what lies below and above them. */
export interface Bins {
  readonly step: number;
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
  readonly below: number;
  readonly above: number;
  readonly notFinite: number;
  readonly zeros: number;
  /** Of the finite numbers. */
  readonly min: number;
  readonly max: number;
  /** Finite numbers. */
  readonly total: number;
}

/** A step whose numbers spread over more than so many times the usual range does not set the range for the others. */
const EXPLODED = 10;
const MARGIN = 0.04;
/** How far beyond the bins, as a share of their width, a number may be that the axis still shows. */
const NEAR = 0.5;

export function binsOf(data: Records, row: string): Bins[] {
  return data.steps.flatMap((step, position) => {
    const histogram = data.histogram(position, row);
    if (!histogram) return [];
    const [below = 0, ...rest] = histogram.counts;
    const above = rest.pop() ?? 0;
    const at = (column: string): number => data.value(position, row, column);
    const notFinite = at("nan") + at("positive_infinite") + at("negative_infinite");
    const total = at("count") - notFinite;
    return [{ step, low: histogram.low, high: histogram.high, counts: rest, below, above, notFinite, zeros: at("zero"), min: at("min"), max: at("max"), total }];
  });
}

/** Whether all finite numbers are one. */
export function isConstant({ low, high, total }: Bins): boolean {
  return total > 0 && !(high > low);
}

/** One range for all steps, but for those that spread far more than most; with a margin, so that spikes at the ends are seen. */
export function valueRange(all: readonly Bins[]): Span {
  const counted = all.filter(({ total, low, high }) => total > 0 && Number.isFinite(low) && Number.isFinite(high));
  const reaches = counted.map(({ low, high }) => Math.max(Math.abs(low), Math.abs(high)));
  const limit = EXPLODED * (median(reaches.filter((reach) => reach > 0)) ?? 0);
  const usual = counted.filter((_, index) => (reaches[index] ?? 0) <= limit);
  const low = min(usual, (bins) => nearby(bins.low, bins.min, bins)) ?? 0;
  const high = max(usual, (bins) => nearby(bins.high, bins.max, bins)) ?? 0;
  const margin = MARGIN * (high - low) || Math.max(Math.abs(high), 1) / 2;
  return [low - margin, high + margin];
}

/** The outermost number, if it is near the bins; else their own end. */
function nearby(end: number, outermost: number, { low, high }: Bins): number {
  return Math.abs(outermost - end) <= NEAR * (high - low) ? outermost : end;
}

/** How many finite numbers of a step are not in the range, at least: a bin that is partly in it does not count. */
export function beyond({ counts, low, high, below, above, min: smallest, max: largest }: Bins, [from, to]: Span): number {
  const width = (high - low) / counts.length;
  const outside = counts.reduce((sum, number, index) => {
    return low + (index + 1) * width < from || low + index * width > to ? sum + number : sum;
  }, 0);
  // What lies outside of the bins may still be within the range.
  return outside + (smallest < from ? below : 0) + (largest > to ? above : 0);
}

/** What is not in the picture, in sentences: the numbers beyond the range, and those that are not finite. */
export function outlierSentences(all: readonly Bins[], range: Span): string[] {
  const outside = all.map((bins) => ({ bins, number: beyond(bins, range) })).filter(({ number }) => number > 0);
  const broken = all.filter(({ notFinite }) => notFinite > 0);
  const furthest = outside.reduce<Bins | undefined>((worst, { bins }) => (worst === undefined || extreme(bins) > extreme(worst) ? bins : worst), undefined);
  const sentences: string[] = [];
  if (furthest) {
    const most = furthest.max > -furthest.min ? furthest.max : furthest.min;
    sentences.push(
      `${where(outside.map(({ bins }) => bins))} some entries lie beyond the axis: at least ${count(beyond(furthest, range))} of ${count(furthest.total)} at training step ${count(furthest.step)}, the furthest at ${short(most, 4)}.`,
    );
  }
  const worst = broken.at(-1);
  if (worst) sentences.push(`${where(broken)} entries are NaN or infinite: ${count(worst.notFinite)} of ${count(worst.notFinite + worst.total)} at training step ${count(worst.step)}.`);
  return sentences;
}

/** One step in words: what a bin or a constant holds. */
export function binSentence(bins: Bins, value: number): string {
  if (bins.total === 0) return "no finite number";
  if (isConstant(bins)) return `all ${count(bins.total)} are ${short(bins.low, 4)}`;
  const width = (bins.high - bins.low) / bins.counts.length;
  const index = Math.floor((value - bins.low) / width);
  if (index < 0) return `${count(bins.below)} below ${short(bins.low)}`;
  if (index >= bins.counts.length) return `${count(bins.above)} above ${short(bins.high)}`;
  const [from, to] = [bins.low + index * width, bins.low + (index + 1) * width];
  const number = bins.counts[index] ?? 0;
  return `${count(number)} of ${count(bins.total)} (${percent(number / bins.total)}) from ${short(from)} to ${short(to)}`;
}

function extreme({ min: smallest, max: largest }: Bins): number {
  return Math.max(-smallest, largest);
}

function where(steps: readonly Bins[]): string {
  return steps.length === 1 ? `At training step ${count(steps[0]?.step ?? 0)}` : `At ${plural(steps.length, "training step")}`;
}
