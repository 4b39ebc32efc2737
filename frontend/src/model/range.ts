// Which values the ends of a colour bar stand for.

import { max, median, quantile } from "d3-array";
import type { Values } from "../safetensors";

const OUTLIER_FACTOR = 10;

/** The quantile of |value| over all finite values; 0 where there is none. */
export function robustMagnitude(values: Values, share = 0.99): number {
  return quantile(finiteMagnitudes(values), share) ?? 0;
}

/**
 * One range for all training steps, from each step's own magnitude.
 * Steps above 10 times the median, as after an explosion, would make the others colourless: they are left out.
 */
export function rangeOverSteps(magnitudes: Iterable<number>): number {
  const finite = Array.from(magnitudes).filter((value) => Number.isFinite(value) && value > 0);
  const limit = OUTLIER_FACTOR * (median(finite) ?? 0);
  return max(finite.filter((value) => value <= limit)) ?? 0;
}

/** The end of a symmetric colour bar, rounded up to two digits so that it can be printed; 1 for all zeros. */
export function roundedUp(magnitude: number): number {
  if (!(magnitude > 0)) return 1;
  const unit = 10 ** (Math.floor(Math.log10(magnitude)) - 1);
  return Number((Math.ceil(magnitude / unit - 1e-9) * unit).toPrecision(2));
}

/** The lower end of a logarithmic colour bar. */
export function roundedDown(magnitude: number): number {
  const unit = 10 ** (Math.floor(Math.log10(magnitude)) - 1);
  return Number((Math.floor(magnitude / unit + 1e-9) * unit).toPrecision(2));
}

function finiteMagnitudes(values: Values): number[] {
  const magnitudes: number[] = [];
  for (const value of values) if (Number.isFinite(value)) magnitudes.push(Math.abs(value));
  return magnitudes;
}
