// The gradients of a layer's weights over training steps: one line per gate, and why there may be none.

import { ticks } from "d3-array";
import type { Figure, Span, Tick } from "./figure";
import { words } from "./gates";
import { logAxis, logLines, type Value } from "./logAxis";
import type { Records } from "./records";

export interface Trend {
  /** A gate, or "projection". */
  readonly key: string;
  readonly row: string;
  /** Null at a step without a gradient. */
  readonly norms: readonly Value[];
}

/** The top of the axis, as a multiple of the furthest reach. */
const HEADROOM = 1.6;
const PARTS = ["kernel", "recurrent_kernel", "bias", "recurrent_bias", "peephole", "projection"];

/** The weights that have gradients: "kernel", ... */
export function trendParts({ header }: Records): string[] {
  return PARTS.filter((part) => header.rows.some((row) => partOf(row) === part));
}

export function trends(data: Records, part: string, gates: readonly string[]): Trend[] {
  const keys = part === "projection" ? [part] : gates;
  return keys.flatMap((key) => {
    const row = part === key ? part : `${part}/${key}`;
    return data.header.rows.includes(row) ? [{ key, row, norms: normsOver(data, row) }] : [];
  });
}

/** The lines of a part, at places 0..1 of an axis of training steps. */
export function trendFigure(
  shown: readonly Trend[],
  places: readonly number[],
  xTicks: readonly Tick[],
  colourOf: (key: string) => string,
  notFinite: string,
): Figure {
  const axis = logAxis(shown.flatMap(({ norms }) => norms));
  return {
    x: places,
    xRange: [0, 1],
    xTicks,
    xName: "training step",
    yRange: axis.range,
    yTicks: axis.ticks,
    lines: shown.flatMap(({ key, norms }) => logLines(axis, norms, { key, colour: colourOf(key), width: 1.75 }, notFinite)),
  };
}

/** How far back the error reached at each step; up to the longest lag that there was, where it comes near that. */
export function reachTrendFigure(data: Records, places: readonly number[], xTicks: readonly Tick[], colour: string, limitColour: string): Figure {
  const known = (values: readonly number[]): Value[] => values.map((value) => (Number.isFinite(value) ? value : null));
  const [reaches, limits] = [known(data.recordSeries("reach")), known(data.recordSeries("reach_limit"))];
  const [furthest, limit] = [reaches, limits].map((values) => Math.max(1, ...values.map((value) => value ?? 0)));
  const yRange: Span = [0, Math.min(limit ?? 1, Math.ceil(HEADROOM * (furthest ?? 1)))];
  return {
    x: places,
    xRange: [0, 1],
    xTicks,
    xName: "training step",
    yRange,
    yTicks: wholeTicks(yRange),
    lines: [
      { key: "limit", values: limits, colour: limitColour, width: 1, dash: [3, 3] },
      { key: "reach", values: reaches, colour, width: 1.75 },
    ],
  };
}

function wholeTicks([low, high]: Span): Tick[] {
  return ticks(low, high, 3).filter(Number.isInteger).map((at) => ({ at, text: String(at) }));
}

/** Why rows have no gradient at the newest step, in sentences. */
export function missingSentences({ header }: Records): string[] {
  return REASONS.flatMap(({ reason, all, some }) => {
    const rows = header.rows.filter((row) => header.missing?.[row] === reason);
    if (rows.length === 0) return [];
    return [rows.length === header.rows.length ? all : some(named(rows, header.rows))];
  });
}

const REASONS = [
  {
    reason: "frozen",
    all: "All weights of this layer are frozen: they are not trained and get no gradient.",
    some: (names: string) => `Frozen, and so without a gradient: ${names}.`,
  },
  {
    reason: "not computed yet",
    all: "No gradient of this layer's weights has been computed yet.",
    some: (names: string) => `The gradient has not been computed yet: ${names}.`,
  },
];

/** "kernel", or where only some of its gates are meant "kernel (forget, output)". */
function named(rows: readonly string[], all: readonly string[]): string {
  const names = PARTS.flatMap((part) => {
    const own = rows.filter((row) => partOf(row) === part);
    if (own.length === 0) return [];
    if (own.length === all.filter((row) => partOf(row) === part).length) return [words(part)];
    return [`${words(part)} (${own.map((row) => words(row.slice(part.length + 1))).join(", ")})`];
  });
  return names.join(", ");
}

function partOf(row: string): string {
  return row.split("/")[0] ?? row;
}

function normsOver(data: Records, row: string): Value[] {
  const columns = ["count", "nan", "positive_infinite", "negative_infinite", "norm"].map((column) => data.series(row, column));
  return data.steps.map((_, position) => {
    const [count = 0, nan = 0, positive = 0, negative = 0, norm = NaN] = columns.map((values) => values[position] ?? NaN);
    if (!(count > 0)) return null;
    return nan + positive + negative > 0 ? NaN : norm;
  });
}
