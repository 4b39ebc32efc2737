// Numbers and times as people read them.

const MANTISSA_BITS: Readonly<Record<string, number>> = { F16: 10, F32: 23, F64: 52 };
const SMALLEST_EXPONENT: Readonly<Record<string, number>> = { F16: -14, F32: -126, F64: -1022 };
const MINUS = "\u2212";
/** Smaller numbers are short only with an exponent. */
const LEAST_PLAIN = 1e-4;
const THOUSANDS = new Intl.NumberFormat("en-US");

/** The shortest decimal number that is read back as the same value of that dtype. */
export function exact(value: number, dtype = "F32"): string {
  if (!Number.isFinite(value)) return special(value);
  if (value === 0) return "0";
  const halfSpacing = spacing(value, dtype) / 2;
  for (let digits = 1; digits <= 17; digits += 1) {
    const candidate = Number(value.toPrecision(digits));
    if (candidate === value || Math.abs(candidate - value) < halfSpacing) return signed(candidate);
  }
  return signed(value);
}

/** A few significant digits, for lines that are read and not copied. */
export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return special(value);
  const rounded = Number(value.toPrecision(digits));
  return value !== 0 && Math.abs(value) < LEAST_PLAIN ? signed(rounded, rounded.toExponential()) : signed(rounded);
}

/** A share of 0..1 in percent. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return special(share);
  const value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${signed(Number(value.toFixed(value < 10 ? 1 : 0)))} %`;
}

/** A count with thousands separated: 6,400. */
export function count(value: number): string {
  return THOUSANDS.format(value);
}

/** A count in little room: 940, 8k, 1.2M. */
export function compactCount(value: number): string {
  if (value < 1000) return String(value);
  const [divisor, suffix] = value < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  const scaled = value / divisor;
  return `${scaled < 9.95 ? Number(scaled.toFixed(1)) : Math.round(scaled)}${suffix}`;
}

/** How long ago, from seconds. */
export function ago(seconds: number): string {
  if (seconds < 5) return "just now";
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

export function plural(number: number, word: string, many = `${word}s`): string {
  return `${count(number)} ${number === 1 ? word : many}`;
}

function special(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : `${MINUS}Inf`;
}

/** The distance between neighbouring values of the dtype at `value`. */
function spacing(value: number, dtype: string): number {
  const bits = MANTISSA_BITS[dtype] ?? 23;
  const smallest = SMALLEST_EXPONENT[dtype] ?? -126;
  return 2 ** (Math.max(Math.floor(Math.log2(Math.abs(value))), smallest) - bits);
}

function signed(value: number, written = String(value)): string {
  const text = written.replace(/^-/, "").replace("e-", `e${MINUS}`);
  return value < 0 ? MINUS + text : text;
}
