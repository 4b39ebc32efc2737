// What the panels show, as tables with one row per value.

import type { ShownSample } from "./activations";
import { valuesOf, type Difference } from "./difference";
import type { GradientSample } from "./gradients";
import type { Trend } from "./gradientTrends";
import { words } from "./gates";
import type { HealthRow } from "./health";
import { positionAt } from "./steps";
import type { Matrix } from "./matrix";
import type { ReachCurve } from "./reach";
import type { Records } from "./records";
import type { CellValue, Table } from "./table";
import type { WeightColumn } from "./weights";

/** Those of the chosen training step. */
export function healthTable(rows: readonly HealthRow[], step: number): Table {
  const tiles = rows.flatMap((row) => row.tiles);
  return {
    part: "health",
    columns: ["layer", "gate", "number", "training step", "value", "entries not finite"],
    rows: tiles.flatMap((tile) => {
      const at = positionAt(tile.steps, step);
      const own = tile.steps[at];
      if (own === undefined || own > step) return [];
      return [[tile.layer.id, tile.gate ?? tile.name, words(tile.measure), own, tile.values[at] ?? NaN, tile.notFinite[at] ?? 0]];
    }),
  };
}

/** The maps that are drawn, and the tracks above them. Masked timesteps have no rows. */
export function activationTables(sample: ShownSample, only: (key: string) => boolean, number: number): Table[] {
  const columns = ["sample", "name", "unit", "timestep", "label", "value"];
  const maps = sample.rows.filter(({ key }) => only(key));
  const named = (name: string, matrix: Matrix, indices: readonly number[]): Iterable<CellValue[]> =>
    entries(matrix, (row, column, value) => [number, name, indices[row] ?? row, column * sample.block, sample.labels?.[column] ?? "", value]);
  return [
    ...maps.map(({ name, matrix, indices }) => ({ part: "activations", columns, rows: named(name, matrix, indices) })),
    ...sample.tracks.map(({ key, matrix, features }) => ({ part: "tracks", columns, rows: named(key, matrix, features) })),
  ];
}

/** Both values beside each difference that is drawn. */
export function differenceTables(drawn: ShownSample, difference: Difference, only: (key: string) => boolean): Table[] {
  const rows = drawn.rows.filter(({ key }) => only(key));
  return rows.map(({ key, name, matrix, indices }) => ({
    part: "difference",
    columns: ["name", "unit", "timestep", "label", "what", "value", "subtracted", "difference"],
    rows: entries(matrix, (row, column, value) => {
      const unit = indices[row] ?? row;
      return [name, unit, column * drawn.block, drawn.labels?.[column] ?? "", difference.name, ...valuesOf(difference, key, unit, column), value];
    }),
  }));
}

export function reachTable(curves: readonly ReachCurve[]): Table {
  return {
    part: "reach",
    columns: ["training step", "timesteps back", "value"],
    rows: curves.flatMap(({ step, lags, ratios }) => lags.map((lag, index) => [step, lag, ratios[index] ?? NaN])),
  };
}

/** Norms of the gradient by the states and by each gate's pre-activation, at each timestep. */
export function normTables(sample: GradientSample, number: number): Table[] {
  const columns = ["sample", "name", "timestep", "value"];
  return [
    {
      part: "gradient by the states",
      columns,
      rows: sample.lines.flatMap(({ name, values }) =>
        values.flatMap((value, column) => (value === null ? [] : [[number, name, column * sample.block, value]])),
      ),
    },
    {
      part: "gradient by the pre-activation",
      columns,
      rows: entries(sample.matrix, (row, column, value) => [number, words(sample.gates[row] ?? ""), column * sample.block, value]),
    },
  ];
}

export function gradientTrendTable(trends: readonly Trend[], steps: readonly number[], weights: string): Table {
  return {
    part: "gradient of the weights over training",
    columns: ["gate", "weights", "training step", "value"],
    rows: trends.flatMap(({ key, norms }) => norms.flatMap((norm, at) => (norm === null ? [] : [[words(key), words(weights), steps[at] ?? NaN, norm]]))),
  };
}

/** Each entry as it is, or its change; of all gates, or of those that are drawn. */
export function weightTables(columns: readonly WeightColumn[], what: "value" | "change"): Table[] {
  return columns.flatMap(({ name, blocks }) =>
    blocks.map(({ label, matrix, place }) => ({
      part: "weights",
      columns: ["gate", "weights", "entry", what],
      rows: entries(matrix, (row, column, value) => [name, label, place(row, column), value]),
    })),
  );
}

/** All statistics of all rows at all training steps: what distributions and trends are drawn from. */
export function statisticsTable(part: string, { header, steps, series }: Records): Table {
  return {
    part,
    columns: ["row", "statistic", "training step", "value"],
    rows: header.rows.flatMap((row) =>
      header.columns.flatMap((column) => series(row, column).map((value, at) => [row, column, steps[at] ?? NaN, value])),
    ),
  };
}

function* entries(matrix: Matrix, made: (row: number, column: number, value: number) => CellValue[]): Generator<CellValue[]> {
  for (const [index, value] of matrix.values.entries()) {
    const column = index % matrix.columns;
    if (!matrix.gaps?.[column]) yield made(Math.floor(index / matrix.columns), column, value);
  }
}
