// Tests the trends of the weights and the names of their rows.

import { expect, it } from "vitest";
import type { Series } from "../api";
import { records, type Records } from "./records";
import { layer, tensor } from "./testing";
import { rowName, shownRow, weightRows } from "./weightRows";
import { canBeLogarithmic, possibleStatistics, weightTrendFigure, weightTrends } from "./weightTrends";

const ROWS = ["kernel/input", "kernel/forget", "recurrent_kernel/input", "recurrent_kernel/forget", "projection"];

/** Two steps; `norm` is 1, 2, ... over rows, ten times that at the second step; the last row is not finite there. */
function data(): Records {
  const columns = ["norm", "mean", "spectral_norm", "nan", "positive_infinite", "negative_infinite"];
  const at = (factor: number): number[] => ROWS.flatMap((_, row) => (factor > 1 && row === 4 ? [NaN, NaN, NaN, 2, 0, 0] : [factor * (row + 1), -1, NaN, 0, 0, 0]));
  const header = { layer: layer(), rows: ROWS, columns, record_columns: [], log_calls: 2, omitted: [] } as Series;
  return records({
    header,
    tensors: new Map([
      ["steps", tensor([2], [0, 8])],
      ["statistics", tensor([2, 5, 6], [...at(1), ...at(10)])],
    ]),
  });
}

it("lists rows by part and gate, and names them", () => {
  const rows = weightRows(data());
  expect(rows).toEqual(["kernel/forget", "kernel/input", "recurrent_kernel/forget", "recurrent_kernel/input", "projection"]);
  expect(rowName("recurrent_kernel/forget", layer().gates)).toBe("forget gate, weights from the previous hidden state");
  expect(rowName("kernel/candidate", layer().gates)).toBe("candidate, weights from the input");
  expect(rowName("projection", layer().gates)).toBe("projection");
});

it("follows the chosen gate, else what was asked for, else the recurrent kernel", () => {
  const rows = weightRows(data());
  expect(shownRow(rows, "", "all")).toBe("recurrent_kernel/forget");
  expect(shownRow(rows, "", "input")).toBe("recurrent_kernel/input");
  expect(shownRow(rows, "kernel/forget", "input")).toBe("kernel/input");
  expect(shownRow(rows, "projection", "input")).toBe("projection");
  expect(shownRow(["weights/a"], "kernel/forget", "all")).toBe("weights/a");
});

it("offers what there is, and draws it per gate", () => {
  expect(possibleStatistics(data(), ["kernel/forget"])).toEqual(["norm", "mean", "nan"]);
  const trends = weightTrends(data(), ["kernel/forget", "kernel/input"], "norm", [0, 1]);
  expect(trends).toEqual([
    { key: "forget", row: "kernel/forget", values: [2, 20] },
    { key: "input", row: "kernel/input", values: [1, 10] },
  ]);
  expect(weightTrends(data(), ["projection"], "norm", [0, 1])[0]?.values).toEqual([5, NaN]);
  expect(weightTrends(data(), ["kernel/forget"], "norm", [1])[0]?.values).toEqual([20]);
  expect(canBeLogarithmic(trends)).toBe(true);
  expect(canBeLogarithmic(weightTrends(data(), ["kernel/forget"], "mean", [0, 1]))).toBe(false);
});

it("begins sizes at zero, and has decades on a logarithmic axis", () => {
  const look = { places: [0, 1], xTicks: [], colourOf: () => "red", notFinite: "pink" };
  const shown = weightTrends(data(), ["kernel/forget"], "norm", [0, 1]);
  const linear = weightTrendFigure(shown, { axis: "linear", ...look });
  expect(linear.yRange[0]).toBe(0);
  expect(linear.yRange[1]).toBeGreaterThan(20);
  expect(weightTrendFigure(shown, { axis: "log", ...look }).yRange).toEqual([0, 2]);
});
