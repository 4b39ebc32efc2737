// Tests the steps that can be chosen, and which is the nearest.

import { expect, it } from "vitest";
import { landmarks, nearestPosition, positionAt, unionOfSteps } from "./steps";

it("unionOfSteps sorts by number and drops doubles", () => {
  expect(unionOfSteps([0, 9, 100], [0, 20], [])).toEqual([0, 9, 20, 100]);
});

it("positionAt gives the picture at or before a step", () => {
  const steps = [10, 20, 30];
  expect([5, 10, 19, 20, 31, Infinity].map((step) => positionAt(steps, step))).toEqual([0, 0, 0, 1, 2, 2]);
  expect(positionAt([], 5)).toBe(-1);
});

it("nearestPosition measures on the axis", () => {
  expect(nearestPosition([0, 10, 100], 0.4, (step) => step / 100)).toBe(1);
  expect(nearestPosition([0, 10, 100], 0.8, (step) => step / 100)).toBe(2);
  expect(nearestPosition([], 0.5, (step) => step)).toBe(-1);
});

it("landmarks are the first, and others evenly spaced by the logarithm", () => {
  const list = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((step) => ({ step }));
  expect(landmarks(list, 4).map(({ step }) => step)).toEqual([0, 5, 20, 200]);
  expect(landmarks(list.slice(0, 2), 4).map(({ step }) => step)).toEqual([0, 1]);
  expect(landmarks([], 4)).toEqual([]);
});
