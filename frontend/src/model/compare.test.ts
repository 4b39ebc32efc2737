// Tests what two runs are compared by.

import { expect, it } from "vitest";
import type { Health } from "../api";
import { comparedFigure, measureOf, possibleMeasures, valueBefore } from "./compare";
import { layer } from "./testing";

const HEALTH: Health = {
  loss: [
    [0, 1, 4],
    [10, 2, 3],
  ],
  layers: [
    {
      layer: layer(),
      kinds: {
        activations: { steps: [0, 5], rows: { "activation/forget": { nearly_open: [0.5, "NaN"] } }, memory: [2, 8] },
        weights: { steps: [0, 5], rows: { "recurrent_kernel/forget": { change_since_start: [0, 0.25] } } },
      },
    },
  ],
};

it("finds each measure of the layer", () => {
  expect(measureOf(HEALTH, "lstm_0", "loss", "forget")).toEqual({ steps: [0, 10], values: [4, 3] });
  expect(measureOf(HEALTH, "lstm_0", "memory", "forget").values).toEqual([2, 8]);
  expect(measureOf(HEALTH, "lstm_0", "change", "forget").values).toEqual([0, 0.25]);
  expect(measureOf(HEALTH, "lstm_0", "nearly_open", "forget").values).toEqual([0.5, NaN]);
  expect(measureOf(HEALTH, "other", "memory", "forget").values).toEqual([]);
  expect(possibleMeasures([HEALTH], "lstm_0", "forget")).toEqual(["loss", "memory", "nearly_open", "change"]);
});

it("draws both runs on one axis, each at its own steps", () => {
  const lines = ["memory", "loss"] as const;
  const { figure, steps } = comparedFigure(
    lines.map((measure) => ({ key: measure, series: measureOf(HEALTH, "lstm_0", measure, "forget"), colour: "red" })),
    "linear",
  );
  expect(steps).toEqual([0, 5, 10]);
  expect(figure.lines.map(({ values }) => values)).toEqual([
    [2, 8, undefined],
    [4, undefined, 3],
  ]);
  expect(figure.yRange[0]).toBe(0);
  expect(figure.xTicks?.every(({ at }) => at >= 0 && at <= 1)).toBe(true);
});

it("takes the last value before a step", () => {
  expect(valueBefore({ steps: [0, 5], values: [2, 8] }, 4)).toBe(2);
  expect(valueBefore({ steps: [3], values: [2] }, 1)).toBeNaN();
});
