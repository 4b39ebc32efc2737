// Tests the points of units by how often they are nearly closed or open, and the bins of their memory.

import { expect, it } from "vitest";
import { saturationPoints, unitNames } from "./saturation";
import { survivalBins } from "./survival";
import type { UnitNumbers } from "./units";

const NUMBERS: UnitNumbers = {
  units: [0, 3, 5, 9],
  survival: [1, 4, 12, 30],
  censored: [false, false, false, true],
  of: (row, column) => (row === "activation/forget" ? { nearly_open: [0.9, 0.9, 0.1, NaN], nearly_closed: [0, 0.001, 0.8, NaN] }[column] ?? null : null),
};

it("puts units at the same place into one point, and leaves out what is not a number", () => {
  expect(saturationPoints(NUMBERS, "activation/forget")).toEqual([
    { units: [0, 3], open: 0.9, closed: 0 },
    { units: [5], open: 0.1, closed: 0.8 },
  ]);
  expect(saturationPoints(NUMBERS, "activation/input")).toEqual([]);
});

it("names units, and of many the first ones", () => {
  expect(unitNames([7])).toBe("unit 7");
  expect(unitNames([1, 2, 3], 2)).toBe("units 1, 2 and 1 more");
});

it("counts memory in bins that double, up to the sequence, and what is longer beside them", () => {
  const bins = survivalBins(NUMBERS, 12);
  expect(bins.map(({ text }) => text)).toEqual(["1", "2", "3–4", "5–8", "9–12", "longer"]);
  expect(bins.map(({ units }) => units)).toEqual([[0], [], [3], [], [5], [9]]);
  expect(bins.at(-1)?.isLonger).toBe(true);
  expect(survivalBins({ ...NUMBERS, survival: null }, 12)).toEqual([]);
});
