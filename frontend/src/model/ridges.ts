// A distribution over training steps as ridges: the first step at the back, the last one in front.

import { max } from "d3-array";
import { isConstant, type Bins } from "./distribution";
import { shareOf, type Span } from "./figure";

/** A bar of a ridge: places 0..1 on the axis of values, and a height 0..1. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly height: number;
  /** Higher than there is room for: its height is not to be compared. */
  readonly cut: boolean;
}

export interface Ridge {
  readonly bins: Bins;
  readonly bars: readonly Bar[];
}

const MOST_RIDGES = 20;
/** A bar that is so many times as dense as the densest of the others is a spike, and does not set the scale. */
const SPIKE = 4;
/** How wide a spike of a constant is drawn, as a share of the axis. */
const SPIKE_WIDTH = 0.006;

/** At most 20 of the steps, evenly chosen, the first, the last and `chosen` among them. */
export function shownSteps(all: readonly Bins[], chosen: number | undefined): Bins[] {
  if (all.length <= MOST_RIDGES) return [...all];
  const every = (all.length - 1) / (MOST_RIDGES - 1);
  const places = new Set(Array.from({ length: MOST_RIDGES }, (_, index) => Math.round(index * every)));
  const wanted = all.findIndex(({ step }) => step === chosen);
  if (wanted >= 0 && !places.has(wanted)) {
    const nearest = [...places].filter((place) => place > 0 && place < all.length - 1).sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0];
    if (nearest !== undefined) places.delete(nearest);
    places.add(wanted);
  }
  return [...places].sort((a, b) => a - b).flatMap((place) => all[place] ?? []);
}

/** Heights are densities, so that areas can be compared, on one scale for all steps. */
export function ridges(all: readonly Bins[], range: Span): Ridge[] {
  const scale = max(all, usualDensity) || 1;
  return all.map((bins) => ({ bins, bars: isConstant(bins) ? spike(bins, range) : bars(bins, range, scale) }));
}

/** The outline of the bars from left to right, in places 0..1 and heights. */
export function outline(drawn: readonly Bar[]): readonly (readonly [number, number])[] {
  return drawn.flatMap(({ from, to, height }) => [
    [from, height],
    [to, height],
  ]);
}

function bars(bins: Bins, range: Span, scale: number): Bar[] {
  const { low, high, counts } = bins;
  const width = (high - low) / counts.length;
  return densities(bins).flatMap((density, index) => {
    const [from, to] = [shareOf(range, low + index * width), shareOf(range, low + (index + 1) * width)];
    if (to <= 0 || from >= 1) return [];
    return [{ from: Math.max(0, from), to: Math.min(1, to), height: Math.min(1, density / scale), cut: density > scale * (1 + 1e-9) }];
  });
}

/** A single number has no density: it is drawn at full height. */
function spike({ low }: Bins, range: Span): Bar[] {
  const at = shareOf(range, low);
  if (at < 0 || at > 1) return [];
  return [{ from: Math.max(0, at - SPIKE_WIDTH / 2), to: Math.min(1, at + SPIKE_WIDTH / 2), height: 1, cut: true }];
}

function densities({ low, high, counts, total }: Bins): number[] {
  const width = (high - low) / counts.length;
  return counts.map((number) => number / total / width);
}

/** The largest density of a step but for spikes; 0 where there is none. */
function usualDensity(bins: Bins): number {
  if (bins.total === 0 || isConstant(bins)) return 0;
  const sorted = densities(bins).sort((a, b) => b - a);
  const [largest = 0] = sorted;
  const usual = sorted.find((density, index) => density > 0 && density <= SPIKE * (sorted[index + 1] ?? 0));
  return usual ?? largest;
}
