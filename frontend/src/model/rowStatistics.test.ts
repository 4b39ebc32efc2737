// Tests the numbers of a picture: what is masked or not a number does not count, and states have no gate's shares.

import { expect, it } from "vitest";
import type { ShownRow } from "./activations";
import { rowStatistics } from "./rowStatistics";
import { symmetric } from "./scales";

function row(values: readonly number[], scale: ShownRow["scale"], gaps?: readonly boolean[]): ShownRow {
  const matrix = { rows: 2, columns: values.length / 2, values: Float64Array.from(values), dtype: "F64", gaps };
  return { array: "", key: "", name: "", meaning: "", scale, matrix, range: symmetric(1), indices: [0, 1], projected: false };
}

it("leaves masked timesteps out of all units, and NaN and Inf out of all numbers", () => {
  const masked = row([0.95, 0, 0.05, 0.5, 0, NaN], "open", [false, true, false]);
  const { mean, std, nearlyClosed, nearlyOpen } = rowStatistics(masked);
  expect(mean).toBeCloseTo(0.5);
  expect(std).toBeCloseTo(Math.sqrt((0.45 ** 2 + 0.45 ** 2) / 3));
  expect([nearlyClosed, nearlyOpen]).toEqual([1 / 3, 1 / 3]);
});

it("counts a signed row by its size, and gives a row without bounds no shares", () => {
  expect(rowStatistics(row([-0.95, 0.95, -0.05, 0.5], "signed"))).toMatchObject({ nearlyClosed: 0.25, nearlyOpen: 0.5 });
  expect(rowStatistics(row([-3, 3, 0, 0], "unbounded"))).toMatchObject({ mean: 0, nearlyClosed: null, nearlyOpen: null });
});
