// Any statistic of a part of the weights over training steps: one line per gate.

import { extent, ticks } from "d3-array";
import type { Figure, Line, Span, Tick } from "./figure";
import { short } from "./format";
import { logAxis, logLines, type Value } from "./logAxis";
import type { Records } from "./records";

export type TrendAxis = "linear" | "log";

export interface WeightTrend {
  /** A gate, "projection", or an unknown cell's own name of a weight. */
  readonly key: string;
  readonly row: string;
  readonly values: readonly Value[];
}

/** What can be drawn, in the words of the page. */
export const STATISTICS: Readonly<Record<string, string>> = {
  change_since_start: "change since start ‖W−W₀‖ / max(‖W‖, ‖W₀‖)",
  change_since_previous: "change since previous record",
  max_change_since_start: "largest change of an entry since start",
  max_change_since_previous: "largest change of an entry since previous record",
  norm: "norm",
  spectral_norm: "spectral norm",
  mean: "mean",
  std: "standard deviation",
  min: "smallest",
  p1: "1st percentile",
  p50: "median",
  p99: "99th percentile",
  max: "largest",
  zero: "entries that are zero",
  nan: "entries that are NaN",
};

const MARGIN = 0.06;

/** Those that some row of the part has. */
export function possibleStatistics(data: Records, rows: readonly string[]): string[] {
  return Object.keys(STATISTICS).filter((column) => rows.some((row) => data.series(row, column).some(Number.isFinite)));
}

/** @param positions - those of the records whose values are wanted. */
export function weightTrends(data: Records, rows: readonly string[], column: string, positions: readonly number[]): WeightTrend[] {
  return rows
    .map((row) => ({ key: row.slice(row.indexOf("/") + 1), row, values: positions.map((position) => known(data, row, column, position)) }))
    .filter(({ values }) => values.some((value) => value !== null));
}

/** NaN is what a record does not have; where the entries themselves are not finite, that is told. */
function known(data: Records, row: string, column: string, position: number): Value {
  const value = data.value(position, row, column);
  if (!Number.isNaN(value)) return value;
  return data.value(position, row, "nan") + data.value(position, row, "positive_infinite") + data.value(position, row, "negative_infinite") > 0 ? NaN : null;
}

/** Sizes can stand on a logarithmic axis; what has signs cannot. */
export function canBeLogarithmic(shown: readonly WeightTrend[]): boolean {
  return shown.every(({ values }) => values.every((value) => value === null || !(value < 0)));
}

interface Look {
  readonly axis: TrendAxis;
  /** Places 0..1 of the records on an axis of training steps. */
  readonly places: readonly number[];
  readonly xTicks: readonly Tick[];
  readonly colourOf: (key: string) => string;
  readonly notFinite: string;
}

export function weightTrendFigure(shown: readonly WeightTrend[], { axis, places, xTicks, colourOf, notFinite }: Look): Figure {
  const shared = { x: places, xRange: [0, 1] as Span, xTicks, xName: "training step" };
  const style = (key: string): Omit<Line, "values"> => ({ key, colour: colourOf(key), width: 1.75 });
  if (axis === "log") {
    const y = logAxis(shown.flatMap(({ values }) => values));
    return { ...shared, yRange: y.range, yTicks: y.ticks, lines: shown.flatMap(({ key, values }) => logLines(y, values, style(key), notFinite)) };
  }
  const yRange = linearRange(shown.flatMap(({ values }) => values));
  return {
    ...shared,
    yRange,
    yTicks: ticks(...yRange, 4).map((at) => ({ at, text: short(at) })),
    lines: shown.map(({ key, values }) => ({ ...style(key), values: values.map((value) => (Number.isFinite(value) ? value : null)) })),
  };
}

/** Sizes begin at zero. */
function linearRange(values: readonly Value[]): Span {
  const [low = 0, high = 1] = extent(values.filter((value): value is number => Number.isFinite(value)));
  const bottom = low >= 0 ? 0 : low;
  const top = high <= 0 && low < 0 ? 0 : high;
  const margin = MARGIN * (top - bottom) || Math.abs(top) || 1;
  return [bottom === 0 ? 0 : bottom - margin, top === 0 && low < 0 ? 0 : top + margin];
}
