// Tests where values stand on a logarithmic axis, and what is written there.

import { expect, it } from "vitest";
import { logAxis, logLines, powerOfTen, powerOfTenOfOne } from "./logAxis";

const texts = (axis: ReturnType<typeof logAxis>) => axis.ticks.map(({ text }) => text);

it("spans whole decades", () => {
  const axis = logAxis([0.02, 3, null]);
  expect(axis.range).toEqual([-2, 1]);
  expect(texts(axis)).toEqual(["0.01", "0.1", "1", "10"]);
  expect(axis.place(0.1)).toBeCloseTo(-1);
  expect(logAxis([1, 10]).range).toEqual([0, 1]);
  expect(logAxis([1]).range).toEqual([0, 1]);
  expect([logAxis([]).range, logAxis([]).ticks]).toEqual([[0, 1], []]);
});

it("gives zero and what is not finite lines of their own, and nothing to what is not there", () => {
  const values = [1, 0, NaN, Infinity, null, 10];
  const axis = logAxis(values);
  const [low, high] = axis.range;
  expect(low).toBeLessThan(0);
  expect(high).toBeGreaterThan(1);
  expect(texts(axis)).toEqual(["0", "1", "10", "NaN, Inf"]);
  expect(values.map((value) => axis.special(value))).toEqual([null, low, high, high, null, null]);
  expect(values.map((value) => axis.place(value))).toEqual([0, null, null, null, null, 1]);
  const lines = logLines(axis, values, { key: "a", colour: "black", width: 1 }, "pink");
  expect(lines.map(({ colour, dots, values: drawn }) => [colour, dots, drawn])).toEqual([
    ["black", undefined, [0, null, null, null, null, 1]],
    ["black", true, [null, low, null, null, null, null]],
    ["pink", true, [null, null, high, high, null, null]],
  ]);
});

it("ends at a floor, and says so", () => {
  const axis = logAxis([1, 1e-30], { floor: -6, write: powerOfTenOfOne });
  expect(axis.range).toEqual([-6, 0]);
  expect(axis.place(1e-30)).toBe(-6);
  expect(texts(axis)).toEqual(["≤ 0.0001 %", "0.01 %", "1 %", "100 %"]);
});

it("writes powers of ten for people", () => {
  expect([-7, -3, 0, 4, 12].map(powerOfTen)).toEqual(["10⁻⁷", "0.001", "1", "10,000", "10¹²"]);
  expect([-9, -6, -2, 0, 3].map(powerOfTenOfOne)).toEqual(["10⁻⁹", "0.0001 %", "1 %", "100 %", "× 1,000"]);
});
