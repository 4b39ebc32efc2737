// A matrix as the heatmap draws it, cut out of the arrays of a snapshot.

import type { Tensor } from "../safetensors";

export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** Row-major. */
  readonly values: Float32Array | Float64Array;
  readonly dtype: string;
  /** True where a column was not run: drawn as a gap. */
  readonly gaps?: readonly boolean[];
}

/** NaN outside the matrix: a chosen place may be of another, larger one. */
export function valueAt(matrix: Matrix, row: number, column: number): number {
  if (row < 0 || row >= matrix.rows || column < 0 || column >= matrix.columns) return NaN;
  return matrix.values[row * matrix.columns + column] ?? NaN;
}

/** The units x columns matrix of one sample, from [samples, columns, units], its units in the given order. */
export function sampleMatrix(tensor: Tensor, sample: number, order: readonly number[], gaps?: readonly boolean[]): Matrix {
  const [, columns = 0, units = 0] = tensor.shape;
  const values = new Float32Array(order.length * columns);
  order.forEach((unit, row) => {
    for (let column = 0; column < columns; column += 1) {
      values[row * columns + column] = tensor.values[(sample * columns + column) * units + unit] ?? NaN;
    }
  });
  return { rows: order.length, columns, values, dtype: tensor.dtype, gaps };
}

/** A weight array of one or two axes as it is; a bias is one row. */
export function weightMatrix(tensor: Tensor): Matrix {
  const columns = tensor.shape.at(-1) ?? 1;
  const rows = columns === 0 ? 0 : tensor.values.length / columns;
  return { rows, columns, values: tensor.values instanceof Float32Array ? tensor.values : Float32Array.from(tensor.values), dtype: tensor.dtype };
}

/** after - before, in float64 so that the difference of two float32 numbers is exact. */
export function difference(after: Matrix, before: Matrix): Matrix {
  if (after.rows !== before.rows || after.columns !== before.columns) {
    throw new Error(
      `A ${after.rows} × ${after.columns} picture cannot be compared with one of ${before.rows} × ${before.columns}.`,
    );
  }
  const values = Float64Array.from(after.values, (value, index) => value - (before.values[index] ?? NaN));
  return { ...after, values, dtype: "F64" };
}

/** Which columns of a sample the mask calls not run. */
export function sampleGaps(mask: Tensor | undefined, sample: number): boolean[] | undefined {
  if (!mask) return undefined;
  const columns = mask.shape[1] ?? 0;
  return Array.from({ length: columns }, (_, column) => mask.values[sample * columns + column] === 0);
}

/** Positions that sort true unit indices upwards. */
export function ascending(indices: readonly number[]): number[] {
  return indices.map((_, position) => position).sort((a, b) => (indices[a] ?? 0) - (indices[b] ?? 0));
}

/** The smallest and largest finite value outside the gaps; null where there is none. */
export function extent(matrix: Matrix): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  eachOutsideGaps(matrix, (value) => {
    if (!Number.isFinite(value)) return;
    if (value < low) low = value;
    if (value > high) high = value;
  });
  return low <= high ? [low, high] : null;
}

/** Entries that are NaN or infinite, gaps not counted. */
export function countNotFinite(matrix: Matrix): number {
  let number = 0;
  eachOutsideGaps(matrix, (value) => {
    if (!Number.isFinite(value)) number += 1;
  });
  return number;
}

function eachOutsideGaps({ values, gaps, rows, columns }: Matrix, visit: (value: number) => void): void {
  for (let row = 0, index = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1, index += 1) {
      if (!gaps?.[column]) visit(values[index] ?? NaN);
    }
  }
}
