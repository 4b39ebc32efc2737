// Which colours stand for which values in each row of the activations.

import type { Layer } from "../api";
import type { Colours } from "../palette";
import { extent, type Matrix } from "./matrix";
import { magnitudes, type Records } from "./records";
import { rangeOverSteps, robustMagnitude, roundedUp } from "./range";
import type { Row } from "./gates";

export interface Range extends Colours {
  /** Values may lie outside, or only below: the ends stand for "and more". */
  readonly open: boolean | "below";
}

const WITHIN_0_1 = new Set(["sigmoid", "hard_sigmoid"]);
const WITHIN_1 = new Set(["tanh", "hard_tanh", "softsign", "sigmoid", "hard_sigmoid"]);

/** Fixed ranges where the function that made the values is bounded, else a robust one over all training steps. */
export function rowRange(row: Row, layer: Layer, matrix: Matrix, statistics: Records | undefined): Range {
  if (row.scale === "open" && bounded(layer.options.recurrent_activation, WITHIN_0_1)) {
    return { ramp: "sequential", low: 0, high: 1, open: false };
  }
  if (row.scale === "signed" && bounded(layer.options.activation, WITHIN_1) && layer.units === layer.recurrent_size) {
    return { ramp: "diverging", low: -1, high: 1, open: false };
  }
  const overSteps = statistics ? rangeOverSteps(magnitudes(statistics, (name) => name === row.array)) : 0;
  return symmetric(overSteps || robustMagnitude(matrix.values));
}

/** A track's own range: grey for amounts, diverging where there are signs. */
export function trackRange(matrix: Matrix): Range {
  const [low, high] = extent(matrix) ?? [0, 1];
  if (low < 0) return { ...symmetric(Math.max(-low, high)), open: false };
  return { ramp: "grey", low: 0, high: high > 0 ? high : 1, open: false };
}

/** One range for two rows: where it is not fixed for both, the wider one. */
export function sharedRange(one: { readonly range: Range }, other: { readonly range: Range }): Range {
  return other.range.high > one.range.high ? other.range : one.range;
}

export function symmetric(magnitude: number): Range {
  const end = roundedUp(magnitude);
  return { ramp: "diverging", low: -end, high: end, open: true };
}

/** An option that is not there means the usual function. */
function bounded(activation: unknown, functions: ReadonlySet<string>): boolean {
  return activation === undefined || functions.has(String(activation));
}
