// Tests the matrices that are cut out of arrays, and single values of them.

import { expect, it } from "vitest";
import { ascending, countNotFinite, difference, extent, sampleGaps, sampleMatrix, valueAt, weightMatrix, type Matrix } from "./matrix";

// Two samples, three columns, two units.
const cube = { dtype: "F16", shape: [2, 3, 2], values: Float32Array.from({ length: 12 }, (_, index) => index) };

it("sampleMatrix turns [samples, columns, units] into units x columns", () => {
  const matrix = sampleMatrix(cube, 1, [1, 0]);
  expect([matrix.rows, matrix.columns, matrix.dtype]).toEqual([2, 3, "F16"]);
  expect(Array.from(matrix.values)).toEqual([7, 9, 11, 6, 8, 10]);
  expect(valueAt(matrix, 1, 2)).toBe(10);
});

it("valueAt is NaN outside the matrix, never another row's value", () => {
  const matrix = sampleMatrix(cube, 1, [1, 0]);
  const outside = [[0, 3], [0, -1], [2, 0], [-1, 2]] as const;
  expect(outside.map(([row, column]) => valueAt(matrix, row, column))).toEqual([NaN, NaN, NaN, NaN]);
});

it("sampleGaps reads the mask of one sample", () => {
  const mask = { dtype: "U8", shape: [2, 3], values: Uint8Array.of(1, 1, 1, 1, 0, 1) };
  expect(sampleGaps(mask, 1)).toEqual([false, true, false]);
  expect(sampleGaps(undefined, 0)).toBeUndefined();
});

it("weightMatrix makes a bias one row", () => {
  expect(weightMatrix({ dtype: "F32", shape: [3], values: Float32Array.of(1, 2, 3) })).toMatchObject({ rows: 1, columns: 3 });
  expect(weightMatrix({ dtype: "F32", shape: [2, 3], values: new Float32Array(6) })).toMatchObject({ rows: 2, columns: 3 });
});

it("difference of float32 numbers is exact", () => {
  const one = (value: number): Matrix => ({ rows: 1, columns: 1, values: Float32Array.of(value), dtype: "F32" });
  const [after, before] = [Math.fround(0.1), Math.fround(1e-9)];
  expect(difference(one(after), one(before)).values[0]).toBe(after - before);
  expect(() => difference(one(1), { rows: 2, columns: 1, values: new Float32Array(2), dtype: "F32" })).toThrow("1 × 1");
});

it("extent and countNotFinite leave gaps out", () => {
  const values = Float32Array.of(1, NaN, -5, 2, Infinity, NaN);
  const matrix: Matrix = { rows: 2, columns: 3, values, dtype: "F32", gaps: [false, false, true] };
  expect(extent(matrix)).toEqual([1, 2]);
  expect(countNotFinite(matrix)).toBe(2);
  expect(extent({ ...matrix, values: new Float32Array(6).fill(NaN) })).toBeNull();
});

it("ascending sorts true indices", () => {
  expect(ascending([7, 3, 5])).toEqual([1, 2, 0]);
});
