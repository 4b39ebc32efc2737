// Tests the norms of one sample of a gradients snapshot.

import { expect, it } from "vitest";
import type { GradientsHeader } from "../api";
import { gapSpans, gatesWithNorms, gradientSample, normFigure, normRange, normsAt } from "./gradients";
import { layer, tensor } from "./testing";

const header: GradientsHeader = {
  step: 5,
  layer: layer({ cell: "simple_rnn", gates: ["hidden"] }),
  samples: 2,
  timesteps: 3,
  block: 1,
  sample_names: null,
  time_labels: [["a", "b", "c"], ["x", "y", "z"]],
  reach: null,
};
const norms = [1, 2, 3, 0, 0.25, NaN];
const snapshot = {
  header,
  tensors: new Map([
    ["mask", tensor([2, 3], [1, 1, 1, 1, 1, 0], "U8")],
    ["norm/hidden_state", tensor([2, 3], norms)],
    ["norm/output", tensor([2, 3], [0, 0, 3, NaN, 0, NaN])],
    ["norm/preactivation/hidden", tensor([2, 3], norms)],
  ]),
};
const second = gradientSample(snapshot, 1, ["hidden"]);

it("cuts one sample out, masked timesteps apart from what is not a number", () => {
  expect(second.lines.map(({ key, values }) => [key, values])).toEqual([
    ["hidden_state", [0, 0.25, null]],
    ["direct", [NaN, 0, null]],
  ]);
  expect(second.labels).toEqual(["x", "y", "z"]);
  expect(second.matrix).toMatchObject({ rows: 1, columns: 3, gaps: [false, false, true] });
  expect(normsAt(second, 1).map(({ name, value }) => [name, value])).toEqual([
    ["total |dL/dh|", 0.25],
    ["direct |dL/dh|", 0],
    ["hidden", 0.25],
  ]);
});

it("has one range for all samples, on which zero has no place", () => {
  expect(second.range).toEqual({ ramp: "sequential", low: 0.25, high: 3, open: false, log: true });
  expect(normRange([1e-30, 2, Infinity])).toMatchObject({ low: 2e-8, high: 2, open: "below" });
  expect(normRange([0, NaN])).toMatchObject({ low: 1, high: 1 });
});

it("draws each norm in the middle of its column", () => {
  const figure = normFigure(second, (key) => key, "pink");
  expect([figure.x, figure.xRange]).toEqual([[0.5, 1.5, 2.5], [0, 3]]);
  expect(figure.yTicks.map(({ text }) => text)).toEqual(["0", "0.1", "1", "NaN, Inf"]);
  expect(figure.lines.map(({ key, colour }) => [key, colour])).toEqual([
    ["hidden_state", "hidden_state"],
    ["hidden_state", "hidden_state"],
    ["direct", "direct"],
    ["direct", "direct"],
    ["direct", "pink"],
  ]);
});

it("knows which gates there are, and joins masked timesteps", () => {
  expect(gatesWithNorms(snapshot, ["forget", "hidden"])).toEqual(["hidden"]);
  expect(gapSpans([true, true, false, true])).toEqual([[0, 2], [3, 4]]);
  expect(gapSpans(undefined)).toEqual([]);
});
