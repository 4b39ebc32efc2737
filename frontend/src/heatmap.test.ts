// Tests the pixels of a heatmap, and which entry is under the pointer.

import { expect, it } from "vitest";
import { cellAt, cellBeside, pixels } from "./heatmap";
import type { Matrix } from "./model/matrix";
import { colourOf, colourScale } from "./palette";

const matrix: Matrix = { rows: 2, columns: 2, values: Float32Array.of(0, 1, NaN, 0.5), dtype: "F32", gaps: [false, true] };

it("paints one pixel per entry and leaves gaps transparent", () => {
  const scale = colourScale({ ramp: "sequential", low: 0, high: 1 }, "light");
  const bytes = pixels(matrix, scale);
  expect(Array.from(bytes.slice(0, 4))).toEqual([...colourOf(scale, 0), 255]);
  expect(Array.from(bytes.slice(4, 8))).toEqual([0, 0, 0, 0]);
  expect(Array.from(bytes.slice(8, 12))).toEqual([...colourOf(scale, NaN), 255]);
});

it("finds the entry under a place, and none outside", () => {
  expect(cellAt(matrix, 0.6, 0.4)).toEqual({ row: 0, column: 1 });
  expect(cellAt(matrix, 0, 0.999)).toEqual({ row: 1, column: 0 });
  expect(cellAt(matrix, 1, 0.5)).toBeNull();
  expect(cellAt(matrix, -0.01, 0.5)).toBeNull();
});

it("goes from entry to entry with arrow keys, and stops at the edges", () => {
  const from = (row: number, column: number, key: string) => cellBeside(matrix, { row, column }, key);
  expect([from(0, 1, "ArrowDown"), from(0, 1, "ArrowLeft")]).toEqual([{ row: 1, column: 1 }, { row: 0, column: 0 }]);
  expect([from(0, 0, "ArrowUp"), from(0, 0, "ArrowLeft"), from(1, 1, "ArrowDown"), from(1, 1, "ArrowRight")]).toEqual([null, null, null, null]);
  expect(cellBeside(matrix, { column: 1 }, "ArrowUp")).toEqual({ row: 0, column: 0 });
  expect(from(0, 99, "ArrowRight")).toEqual({ row: 0, column: 1 });
  expect(from(0, 0, "Home")).toBeNull();
});
