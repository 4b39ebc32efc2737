// Tests statistics looked up by names and training steps.

import { expect, it } from "vitest";
import type { Series } from "../api";
import { magnitudes, records } from "./records";
import { layer } from "./testing";

const header: Series = {
  layer: layer(),
  rows: ["kernel/forget", "bias/forget"],
  columns: ["p1", "p99", "norm"],
  record_columns: ["log_call", "loss"],
  log_calls: 3,
  omitted: [],
};
const data = records({
  header,
  tensors: new Map([
    ["steps", { dtype: "I64", shape: [2], values: [0, 10] }],
    ["statistics", { dtype: "F64", shape: [2, 2, 3], values: Float64Array.of(-3, 2, 5, -9, 9, 1, -1, 4, 6, -8, 8, NaN) }],
    ["record", { dtype: "F64", shape: [2, 2], values: Float64Array.of(1, 0.5, 3, NaN) }],
  ]),
});

it("looks numbers up by the names of rows and columns", () => {
  expect(data.steps).toEqual([0, 10]);
  expect(data.series("kernel/forget", "norm")).toEqual([5, 6]);
  expect(data.series("bias/forget", "norm")).toEqual([1, NaN]);
  expect(data.recordSeries("loss")).toEqual([0.5, NaN]);
  expect(data.at(10, "kernel/forget", "p99")).toBe(4);
  expect(data.at(7, "kernel/forget", "p99")).toBe(2);
  expect([data.recordAt(7, "loss"), data.recordAt(10, "loss")]).toEqual([0.5, NaN]);
});

it("answers NaN for what there is not", () => {
  expect(data.series("kernel/output", "norm")).toEqual([NaN, NaN]);
  expect(data.recordSeries("epoch")).toEqual([NaN, NaN]);
  expect(data.at(0, "kernel/forget", "max")).toBeNaN();
});

it("magnitudes takes the larger percentile of the wanted rows at each step", () => {
  expect(magnitudes(data, (row) => row.startsWith("kernel"))).toEqual([3, 4]);
  expect(magnitudes(data, () => true)).toEqual([9, 8]);
});
