// The functions that make a gate's activation from its pre-activation, and the way back where one exists.

import { short } from "./format";

interface Invertible {
  readonly of: (z: number) => number;
  /** Undefined where the value does not tell one pre-activation. */
  readonly back?: (value: number) => number | undefined;
}

const FUNCTIONS: Readonly<Record<string, Invertible>> = {
  sigmoid: { of: (z) => 1 / (1 + Math.exp(-z)), back: (a) => (a > 0 && a < 1 ? Math.log(a / (1 - a)) : undefined) },
  tanh: { of: Math.tanh, back: (a) => (Math.abs(a) < 1 ? Math.atanh(a) : undefined) },
  linear: { of: (z) => z, back: (a) => a },
  relu: { of: (z) => Math.max(z, 0), back: (a) => (a > 0 ? a : undefined) },
  softsign: { of: (z) => z / (1 + Math.abs(z)), back: (a) => (Math.abs(a) < 1 ? a / (1 - Math.abs(a)) : undefined) },
  hard_sigmoid: { of: (z) => Math.min(Math.max(z + 3, 0), 6) / 6, back: (a) => (a > 0 && a < 1 ? 6 * a - 3 : undefined) },
  hard_sigmoid_keras2: { of: (z) => Math.min(Math.max(0.2 * z + 0.5, 0), 1), back: (a) => (a > 0 && a < 1 ? 5 * a - 2.5 : undefined) },
  hard_tanh: { of: (z) => Math.min(Math.max(z, -1), 1), back: (a) => (Math.abs(a) < 1 ? a : undefined) },
};

/** Half the distance of neighbouring float16 numbers, as a share of the number. */
const HALF_SPACING: Readonly<Record<string, number>> = { F16: 2 ** -11, F32: 2 ** -24, F64: 2 ** -53 };
const LEAST_DIGITS = 2;
const MOST_DIGITS = 3;
/** Near zero, hundredths say enough. */
const FINEST = 0.01;

/** The function's value; undefined for a function that this page does not know. */
export function applied(name: string, z: number): number | undefined {
  return FUNCTIONS[name]?.of(z);
}

/**
 * The pre-activation behind a stored activation, with as many digits as the stored number allows.
 * Null where that is fewer than two, as for a saturated gate, or where the function has no way back.
 */
export function recovered(name: string, activation: number, dtype: string): string | null {
  const back = FUNCTIONS[name]?.back;
  const half = Math.abs(activation) * (HALF_SPACING[dtype] ?? 2 ** -11);
  const ends = [back?.(activation - half), back?.(activation + half)];
  const middle = back?.(activation);
  if (middle === undefined || ends.some((end) => end === undefined || !Number.isFinite(end))) return null;
  const width = Math.abs((ends[1] ?? NaN) - (ends[0] ?? NaN));
  for (let digits = MOST_DIGITS; digits >= LEAST_DIGITS; digits -= 1) {
    const unit = Math.max(FINEST, 10 ** (Math.floor(Math.log10(Math.abs(middle))) - digits + 1));
    if (width <= unit) return short(unit * Math.round(middle / unit), digits);
  }
  return null;
}
