// Tests the places of a chart.

import { expect, it } from "vitest";
import { isolated, shareOf } from "./figure";

it("finds values that no line would show", () => {
  expect(isolated([1, null, 2, 3, null, 4])).toEqual([0, 5]);
  expect(isolated([1, undefined, 2, undefined, null, undefined, 5])).toEqual([6]);
  expect(isolated([null, undefined])).toEqual([]);
});

it("gives shares of a span", () => {
  expect([shareOf([2, 6], 3), shareOf([2, 2], 2)]).toEqual([0.25, 0.5]);
});
