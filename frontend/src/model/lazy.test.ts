// Tests which rows of a long list are drawn, and how far it scrolls.

import { expect, it } from "vitest";
import { rowsInSight, scrollFor } from "./lazy";

it("draws the rows in sight and a few more", () => {
  expect(rowsInSight(300, 20, 0, 100)).toEqual({ first: 0, end: 9 });
  expect(rowsInSight(300, 20, 2010, 100)).toEqual({ first: 96, end: 110 });
  expect(rowsInSight(300, 20, 5900, 100)).toEqual({ first: 291, end: 300 });
  expect(rowsInSight(2, 20, 0, 100)).toEqual({ first: 0, end: 2 });
});

it("draws no row of a list that became shorter than it is scrolled", () => {
  expect(rowsInSight(3, 20, 4000, 100)).toEqual({ first: 3, end: 3 });
});

it("scrolls only as far as needed", () => {
  expect(scrollFor(2, 20, 0, 100)).toBe(0);
  expect(scrollFor(10, 20, 0, 100)).toBe(120);
  expect(scrollFor(1, 20, 300, 100)).toBe(20);
});
