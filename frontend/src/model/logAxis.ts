// A logarithmic axis on which zero, and what is not a finite number, have lines of their own.

import type { Line, Span, Tick } from "./figure";

/** Null: there is no value, as at a masked timestep. */
export type Value = number | null;

export interface LogAxis {
  readonly range: Span;
  readonly ticks: readonly Tick[];
  /** Where a value above zero stands; null for all others, which are a gap in a line. */
  place(value: Value): number | null;
  /** Where a zero or what is not finite stands; null for all others. */
  special(value: Value): number | null;
}

interface Options {
  /** Decades that the axis shows in any case. */
  readonly least?: Span;
  /** The lowest decade: what is smaller stands on it. */
  readonly floor?: number;
  /** How ten to the power of a decade is written. */
  readonly write?: (decade: number) => string;
}

/** The distance of the lines of zero and of what is not finite from the others, as a share of the axis. */
const DISTANCE = 0.14;
const MOST_TICKS = 5;
const PLAIN_DECADES: Span = [-3, 4];

export function logAxis(values: readonly Value[], { least, floor = -Infinity, write = powerOfTen }: Options = {}): LogAxis {
  const decades = values.flatMap((value) => (isSize(value) ? [Math.log10(value)] : []));
  const lowest = Math.floor(Math.min(...decades, least?.[0] ?? Infinity) + 1e-9);
  const highest = Math.ceil(Math.max(...decades, least?.[1] ?? -Infinity) - 1e-9) || 0; // never -0
  const low = Number.isFinite(lowest) ? Math.max(floor, lowest) : 0;
  const high = Number.isFinite(highest) ? Math.max(low + 1, highest) : low + 1;
  const distance = DISTANCE * (high - low);
  const zero = values.includes(0) ? low - distance : null;
  const beyond = values.some(isNotFinite) ? high + distance : null;
  const isCut = decades.some((decade) => decade < low);
  return {
    range: [zero ?? low, beyond ?? high],
    ticks: [
      ...(zero === null ? [] : [{ at: zero, text: "0" }]),
      ...(Number.isFinite(lowest) ? decadeTicks(low, high) : []).map((at) => ({ at, text: (isCut && at === low ? "≤ " : "") + write(at) })),
      ...(beyond === null ? [] : [{ at: beyond, text: "NaN, Inf" }]),
    ],
    place: (value) => (isSize(value) ? Math.max(low, Math.log10(value)) : null),
    special: (value) => (value === 0 ? zero : isNotFinite(value) ? beyond : null),
  };
}

/** A line of values, and dots where they are zero or not finite. */
export function logLines(axis: LogAxis, values: readonly Value[], line: Omit<Line, "values">, notFinite: string): Line[] {
  const dots = (colour: string, wanted: (value: Value) => boolean): Line[] =>
    values.some(wanted)
      ? [{ key: line.key, values: values.map((value) => (wanted(value) ? axis.special(value) : null)), colour, width: line.width, dots: true }]
      : [];
  return [
    { ...line, values: values.map((value) => axis.place(value)) },
    ...dots(line.colour, (value) => value === 0),
    ...dots(notFinite, isNotFinite),
  ];
}

/** 0.001, 1,000, 10⁻⁷. */
export function powerOfTen(decade: number): string {
  const [low, high] = PLAIN_DECADES;
  if (decade >= low && decade <= high) return Number(`1e${decade}`).toLocaleString("en-US", { maximumFractionDigits: 3 });
  const digits = Array.from(String(Math.abs(decade)), (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return `10${decade < 0 ? "⁻" : ""}${digits}`;
}

/** A share of 1: 100 %, 0.1 %, and above it × 100. */
export function powerOfTenOfOne(decade: number): string {
  if (decade > 0) return `× ${powerOfTen(decade)}`;
  return decade < -8 ? powerOfTen(decade) : `${Number(`1e${decade + 2}`).toLocaleString("en-US", { maximumFractionDigits: 6 })} %`;
}

export function isNotFinite(value: Value): boolean {
  return value !== null && !Number.isFinite(value);
}

function isSize(value: Value): value is number {
  return value !== null && Number.isFinite(value) && value > 0;
}

function decadeTicks(low: number, high: number): number[] {
  const every = [1, 2, 5, 10, 20].find((step) => (high - low) / step <= MOST_TICKS) ?? 50;
  const ticks: number[] = [];
  for (let at = Math.ceil(low / every) * every; at <= high; at += every) ticks.push(at === 0 ? 0 : at);
  return ticks;
}
