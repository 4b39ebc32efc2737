// Tests where training steps stand on the linear and the logarithmic axis.

import { expect, it } from "vitest";
import { alignedByTime, stepAxis, stepTicks } from "./axis";

it("stepAxis runs from 0 to 1", () => {
  const linear = stepAxis("linear", 0, 200);
  expect([0, 50, 200].map(linear)).toEqual([0, 0.25, 1]);
  const log = stepAxis("log", 0, 1000);
  expect([log(0), log(1000)]).toEqual([0, 1]);
  expect(log(100) - log(10)).toBeCloseTo(log(1000) - log(100), 2);
  expect(stepAxis("linear", 7, 7)(7)).toBe(0.5);
});

it("stepTicks are few and round", () => {
  const texts = (...given: Parameters<typeof stepTicks>) => stepTicks(...given).map(({ text }) => text);
  expect(texts("linear", 0, 6400)).toEqual(["0", "2k", "4k", "6k"]);
  expect(texts("log", 0, 6400)).toEqual(["0", "1", "10", "100", "1k"]);
  expect(texts("linear", 7, 7)).toEqual(["7"]);
  expect(stepTicks("linear", 0, 200).at(-1)).toEqual({ at: 1, text: "200" });
});

it("alignedByTime moves epochs to the training steps of their time", () => {
  const clock = [[0, 100, 0] as const, [90, 110, 0] as const, [100, 130, 0] as const];
  const epochs = [[0, 105, 0.9] as const, [1, 120, 0.5] as const, [2, 500, 0.4] as const, [0, 1, 2] as const];
  expect(alignedByTime(epochs, clock).map(([step]) => step)).toEqual([45, 95, 100, 0]);
  expect(alignedByTime(epochs, clock).map(([, , value]) => value)).toEqual([0.9, 0.5, 0.4, 2]);
  expect(alignedByTime(epochs, [])).toEqual(epochs);
});
