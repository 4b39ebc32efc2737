// In which order the units stand from top to bottom: one for all pictures, so that a row is the same unit in each.

import { descending } from "d3-array";
import type { ShownRow, ShownSample } from "./activations";
import type { Matrix } from "./matrix";
import type { UnitNumbers } from "./units";

export type UnitOrder = "index" | "mean" | "memory";

export const UNIT_ORDERS: readonly UnitOrder[] = ["index", "mean", "memory"];

/** The row whose mean sorts the units: the chosen one, or the first. */
export function sortingRow({ rows }: ShownSample, gate: string): ShownRow | undefined {
  const units = rows.filter(({ projected }) => !projected);
  return units.find(({ key }) => key === gate) ?? units[0];
}

/** The same sample with its units in that order, the largest mean or the longest memory on top. */
export function ordered(sample: ShownSample, order: UnitOrder, gate: string, numbers: UnitNumbers): ShownSample {
  const by = sortingRow(sample, gate);
  if (order === "index" || !by) return sample;
  const value = order === "mean" ? means(by) : memories(numbers);
  const units = [...by.indices].sort((a, b) => unknownLast(value, a, b) || descending(value.get(a) ?? NaN, value.get(b) ?? NaN) || a - b);
  return { ...sample, rows: sample.rows.map((row) => (row.projected ? row : rearranged(row, units))) };
}

/** What is not a number compares with nothing: it stands below. */
function unknownLast(value: ReadonlyMap<number, number>, a: number, b: number): number {
  const [first, second] = [Number.isNaN(value.get(a) ?? NaN), Number.isNaN(value.get(b) ?? NaN)];
  return Number(first) - Number(second);
}

function rearranged(row: ShownRow, units: readonly number[]): ShownRow {
  const places = units.map((unit) => row.indices.indexOf(unit)).filter((place) => place >= 0);
  return { ...row, indices: places.map((place) => row.indices[place] ?? place), matrix: takeRows(row.matrix, places) };
}

function takeRows(matrix: Matrix, places: readonly number[]): Matrix {
  const values = matrix.values.slice(0, places.length * matrix.columns);
  places.forEach((place, row) => {
    values.set(matrix.values.subarray(place * matrix.columns, (place + 1) * matrix.columns), row * matrix.columns);
  });
  return { ...matrix, rows: places.length, values };
}

function means({ indices, matrix }: ShownRow): Map<number, number> {
  const run = Array.from({ length: matrix.columns }, (_, column) => column).filter((column) => !matrix.gaps?.[column]);
  return new Map(
    indices.map((unit, row) => {
      const sum = run.reduce((total, column) => total + (matrix.values[row * matrix.columns + column] ?? NaN), 0);
      return [unit, sum / run.length];
    }),
  );
}

/** Of those that were not forgotten before the sequence ended, the true number is larger than that of others with the same. */
function memories({ units, survival, censored }: UnitNumbers): Map<number, number> {
  return new Map(units.map((unit, index) => [unit, (survival?.[index] ?? NaN) + (censored[index] ? 0.5 : 0)]));
}
