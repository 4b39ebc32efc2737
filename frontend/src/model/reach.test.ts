// Tests the sentences about the reach of the error, and its lines.

import { expect, it } from "vitest";
import type { GradientsHeader } from "../api";
import { leftText, ratioAt, reachAxis, reachCurve, reachFigure, reachReading, thresholdSide } from "./reach";
import { layer, tensor } from "./testing";

const base: GradientsHeader = {
  step: 5,
  layer: layer(),
  samples: 1,
  timesteps: 3,
  block: 1,
  sample_names: null,
  time_labels: null,
  reach: null,
};

function snapshot(ratios: readonly number[], timesteps: number | null, arriving: readonly number[] = [0, 0, NaN], step = 5) {
  const limit = ratios.length - 1;
  return {
    header: { ...base, step, reach: timesteps === null ? null : { timesteps, limit, positions: 4, threshold: 0.01 } },
    tensors: new Map([
      ["reach/ratios", tensor([ratios.length], ratios)],
      ["reach/lags", tensor([ratios.length], ratios.map((_, lag) => lag), "I32")],
      ["norm/output", tensor([1, 3], arriving)],
      ["mask", tensor([1, 3], [1, 1, 0], "U8")],
    ]),
  };
}

const halves = Array.from({ length: 10 }, (_, lag) => 0.5 ** lag);

it("says how far the error reaches", () => {
  expect(reachReading(snapshot(halves, 6))).toEqual({
    sentence: "The error reaches about 6 timesteps back.",
    detail: "7 timesteps back 0.8 % of it is left, less than 1 %. What lies further back can hardly change these weights.",
  });
  expect(reachReading(snapshot([1, 0.5, 0], 1)).sentence).toBe("The error reaches about 1 timestep back.");
  expect(reachReading(snapshot([1, 0], 0)).sentence).toContain("does not reach back");
});

it("says that it may reach further than the sequence", () => {
  const reading = reachReading(snapshot([1, 0.5, 0.25], 2));
  expect(reading.sentence).toBe("The error reaches as far back as the sequence goes (2 timesteps) and may go further.");
  expect(reading.detail).toBe("25 % of it is left there.");
  expect(reachReading(snapshot([1, 30, 900], 2)).detail).toBe("On its way it grows: 2 timesteps back it is 900 times as large.");
  expect(reachReading(snapshot([1], 0)).sentence).toContain("first timestep alone");
});

it("says that the gradient has exploded", () => {
  expect(reachReading(snapshot([1, 1e30, NaN, NaN], 1)).sentence).toBe(
    "The gradient is not a number from 2 timesteps back on: it has exploded.",
  );
  expect(reachReading(snapshot([1, Infinity, NaN], 1)).sentence).toBe("The gradient is infinite from 1 timestep back on: it has exploded.");
  expect(reachReading(snapshot([NaN, NaN], 0)).sentence).toBe("The gradient within this layer is not a finite number.");
});

it("tells nothing that arrives from what is not a number", () => {
  expect(reachReading(snapshot([], null)).sentence).toBe("No gradient arrives at this layer's outputs.");
  expect(reachReading(snapshot([], null, [0, NaN, NaN])).sentence).toContain("not a finite number");
});

it("draws curves of other lengths on one axis", () => {
  const curves = [snapshot([1, 0.1], 1, undefined, 0), snapshot(halves.slice(0, 3), 2)].map(reachCurve);
  const figure = reachFigure(curves, ["grey", "red"], "pink");
  expect(figure.x).toEqual([0, 1, 2]);
  expect(figure.xRange).toEqual([0, 2]);
  expect(figure.lines.map(({ key, colour, values }) => [key, colour, values[2]])).toEqual([
    ["0", "grey", undefined],
    ["5", "red", Math.log10(0.25)],
  ]);
  expect([thresholdSide(curves, 0.01), thresholdSide(curves, 0.5)]).toEqual(["left", "right"]);
  expect(reachAxis(curves).range).toEqual([-3, 0]);
});

it("writes what is left as a share, and what has grown as a factor", () => {
  expect([0.125, 1e-9, 1.2, 340, Infinity, NaN].map(leftText)).toEqual(["12.5 %", "1e−7 %", "120 %", "× 340", "+Inf", "NaN"]);
});

it("reads a curve at a lag", () => {
  const curve = reachCurve(snapshot(halves, 6));
  expect(ratioAt(curve, 3)).toEqual({ lag: 3, ratio: 0.125 });
  expect(ratioAt(curve, 10)).toBeNull();
  expect(ratioAt({ ...curve, lags: [0, 4, 9] }, 5)).toEqual({ lag: 4, ratio: 0.5 });
});
