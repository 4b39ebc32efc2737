// One sample of a gradients snapshot: norms by timestep as lines, and by gate as a heatmap.

import type { GradientsHeader } from "../api";
import type { Payload, Tensor } from "../safetensors";
import { timeColumns, type TimeColumns } from "./activations";
import type { Figure, Line } from "./figure";
import { words } from "./gates";
import { logAxis, logLines, type Value } from "./logAxis";
import { sampleGaps, valueAt, type Matrix } from "./matrix";
import { roundedDown, roundedUp } from "./range";
import type { Range } from "./scales";

type Snapshot = Payload<GradientsHeader>;

export interface NormLine {
  /** "hidden_state", "direct", "cell_state". */
  readonly key: string;
  readonly name: string;
  readonly meaning: string;
  /** One per column; null where the timestep was masked. */
  readonly values: readonly Value[];
  readonly dtype: string;
}

export interface GradientSample extends TimeColumns {
  readonly lines: readonly NormLine[];
  /** Of the rows of the matrix. */
  readonly gates: readonly string[];
  readonly matrix: Matrix;
  readonly range: Range;
}

/** The part of a colour bar that tells sizes apart: eight decades below the largest. */
const WIDEST_FACTOR = 1e8;

const LINES = [
  { key: "hidden_state", array: "hidden_state", name: "total |dL/dh|", meaning: "by the hidden state: through this timestep's output and all later timesteps" },
  { key: "direct", array: "output", name: "direct |dL/dh|", meaning: "by this timestep's output alone, before anything comes back through time" },
  { key: "cell_state", array: "cell_state", name: "total |dL/dc|", meaning: "by the cell state: through all later timesteps" },
];

export function gradientSample(snapshot: Snapshot, sample: number, gates: readonly string[]): GradientSample {
  const { tensors } = snapshot;
  const gaps = sampleGaps(tensors.get("mask"), sample);
  const time = timeColumns(snapshot, sample);
  const norms = gates.map((gate) => rowOf(tensors.get(`norm/preactivation/${gate}`), sample, time.columns));
  return {
    ...time,
    lines: LINES.flatMap(({ array, ...line }) => {
      const tensor = tensors.get(`norm/${array}`);
      if (!tensor) return [];
      const values = rowOf(tensor, sample, time.columns).map((value, column) => (gaps?.[column] ? null : value));
      return [{ ...line, values, dtype: tensor.dtype }];
    }),
    gates,
    matrix: { rows: gates.length, columns: time.columns, values: Float32Array.from(norms.flat()), dtype: "F32", gaps },
    range: normRange(gates.flatMap((gate) => Array.from(tensors.get(`norm/preactivation/${gate}`)?.values ?? []))),
  };
}

/** The gates whose norms the snapshot has, of those that are asked for. */
export function gatesWithNorms({ tensors }: Snapshot, gates: readonly string[]): string[] {
  return gates.filter((gate) => tensors.has(`norm/preactivation/${gate}`));
}

/** One logarithmic range for all gates and samples; without a size above zero both of its ends are 1. */
export function normRange(norms: readonly number[]): Range {
  const sizes = norms.filter((norm) => Number.isFinite(norm) && norm > 0);
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  const high = sizes.length > 0 ? roundedUp(largest) : 1;
  const cut = high / WIDEST_FACTOR > smallest;
  const low = sizes.length > 0 ? roundedDown(cut ? high / WIDEST_FACTOR : smallest) : 1;
  return { ramp: "sequential", low, high, open: cut && "below", log: true };
}

/** Norms per timestep, each in the middle of its column. */
export function normFigure(sample: GradientSample, colourOf: (key: string) => string, notFinite: string): Figure {
  const axis = logAxis(sample.lines.flatMap(({ values }) => values));
  return {
    x: Array.from({ length: sample.columns }, (_, column) => column + 0.5),
    xRange: [0, Math.max(1, sample.columns)],
    xTicks: [],
    xName: "",
    yRange: axis.range,
    yTicks: axis.ticks,
    lines: sample.lines.flatMap(({ key, values }): Line[] => {
      const isDirect = key === "direct";
      const line = { key, colour: colourOf(key), width: isDirect ? 1.5 : 2, ...(isDirect && { dash: [4, 3] }) };
      return logLines(axis, values, line, notFinite);
    }),
  };
}

/** What stands behind a column: all norms, and the pre-activation gradient of every gate. */
export function normsAt(sample: GradientSample, column: number): { key: string; name: string; value: number; dtype: string }[] {
  return [
    ...sample.lines.map(({ key, name, values, dtype }) => ({ key, name, value: values[column] ?? NaN, dtype })),
    ...sample.gates.map((gate, row) => ({ key: gate, name: words(gate), value: valueAt(sample.matrix, row, column), dtype: "F32" })),
  ];
}

/** Neighbouring masked columns together, as [first, behind the last]. */
export function gapSpans(gaps: readonly boolean[] | undefined): [number, number][] {
  const spans: [number, number][] = [];
  gaps?.forEach((isGap, column) => {
    const last = spans.at(-1);
    if (!isGap) return;
    if (last?.[1] === column) last[1] = column + 1;
    else spans.push([column, column + 1]);
  });
  return spans;
}

function rowOf(tensor: Tensor | undefined, sample: number, columns: number): number[] {
  return Array.from({ length: columns }, (_, column) => tensor?.values[sample * columns + column] ?? NaN);
}
