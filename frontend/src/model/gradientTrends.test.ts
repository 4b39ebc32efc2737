// Tests the gradients of weights over training steps, and the reasons for which there are none.

import { expect, it } from "vitest";
import type { Series } from "../api";
import { missingSentences, reachTrendFigure, trendFigure, trendParts, trends } from "./gradientTrends";
import { records } from "./records";
import { layer } from "./testing";

const header: Series = {
  layer: layer(),
  rows: ["kernel/input", "kernel/forget", "bias/forget", "projection"],
  columns: ["count", "nan", "positive_infinite", "negative_infinite", "norm"],
  record_columns: ["reach", "reach_limit"],
  log_calls: 2,
  omitted: [],
};

function data(changes: Partial<Series> = {}) {
  const good = [6, 0, 0, 0, 0.5];
  const none = [0, 0, 0, 0, NaN];
  const exploded = [6, 0, 1, 0, 3];
  const statistics = [good, none, good, good, exploded, good, good, good].flat();
  return records({
    header: { ...header, ...changes },
    tensors: new Map([
      ["steps", { dtype: "I64", shape: [2], values: [0, 10] }],
      ["statistics", { dtype: "F64", shape: [2, 4, 5], values: Float64Array.from(statistics) }],
      ["record", { dtype: "F64", shape: [2, 2], values: Float64Array.of(NaN, NaN, 6, 20) }],
    ]),
  });
}

it("tells a step without a gradient from one that is not finite", () => {
  const shown = trends(data(), "kernel", ["forget", "input"]);
  expect(shown.map(({ row, norms }) => [row, norms])).toEqual([
    ["kernel/forget", [null, 0.5]],
    ["kernel/input", [0.5, NaN]],
  ]);
  expect(trends(data(), "projection", ["forget"]).map(({ row }) => row)).toEqual(["projection"]);
  expect(trendParts(data())).toEqual(["kernel", "bias", "projection"]);
  const figure = trendFigure(shown, [0, 1], [], (key) => key, "pink");
  expect(figure.lines.map(({ key, colour }) => [key, colour])).toEqual([
    ["forget", "forget"],
    ["input", "input"],
    ["input", "pink"],
  ]);
});

it("draws the reach with some room above it", () => {
  const figure = reachTrendFigure(data(), [0, 1], [], "red", "grey");
  expect(figure.yRange).toEqual([0, 10]);
  expect(figure.yTicks.map(({ text }) => text)).toEqual(["0", "5", "10"]);
  expect(figure.lines.map(({ values }) => values)).toEqual([
    [null, 20],
    [null, 6],
  ]);
});

it("says why there is no gradient", () => {
  const all = (reason: string) => missingSentences(data({ missing: Object.fromEntries(header.rows.map((row) => [row, reason])) }));
  expect(all("frozen")).toEqual(["All weights of this layer are frozen: they are not trained and get no gradient."]);
  expect(all("not computed yet")).toEqual(["No gradient of this layer's weights has been computed yet."]);
  expect(missingSentences(data({ missing: { "kernel/forget": "frozen", "bias/forget": "frozen", projection: "not computed yet" } }))).toEqual([
    "Frozen, and so without a gradient: kernel (forget), bias.",
    "The gradient has not been computed yet: projection.",
  ]);
  expect(missingSentences(data())).toEqual([]);
});
