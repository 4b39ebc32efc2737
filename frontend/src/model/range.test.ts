// Tests colour ranges over values and over training steps.

import { expect, it } from "vitest";
import { rangeOverSteps, robustMagnitude, roundedUp } from "./range";

it("robustMagnitude leaves out what is rare and what is not finite", () => {
  const values = Float32Array.from({ length: 1001 }, (_, index) => -index / 1000);
  expect(robustMagnitude(values)).toBeCloseTo(0.99, 6);
  expect(robustMagnitude(Float32Array.of(1, NaN, Infinity, 1))).toBe(1);
  expect(robustMagnitude([])).toBe(0);
});

it("rangeOverSteps takes the largest step, but not an explosion", () => {
  expect(rangeOverSteps([1, 2, 3, 2.5])).toBe(3);
  expect(rangeOverSteps([1, 2, 3, 1e9])).toBe(3);
  expect(rangeOverSteps([NaN, 0, 0.5])).toBe(0.5);
  expect(rangeOverSteps([])).toBe(0);
});

it("roundedUp gives two digits that are not smaller", () => {
  expect([0.6831, 6.2, 0.0001234, 99.1, 1].map(roundedUp)).toEqual([0.69, 6.2, 0.00013, 100, 1]);
  expect([0, NaN].map(roundedUp)).toEqual([1, 1]);
});
