// Tests the bins of a row, the range that they are drawn on, and what is said of the rest.

import { expect, it } from "vitest";
import type { Series } from "../api";
import { beyond, binSentence, binsOf, outlierSentences, valueRange, type Bins } from "./distribution";
import { outline, ridges, shownSteps } from "./ridges";
import { records } from "./records";
import { layer, tensor } from "./testing";

/** 40 entries: 30 in the first bin and 10 in the last, between 0 and 1. */
const TWO_VALUES = bins({ counts: [30, ...zeros(30), 10], low: 0, high: 1, total: 40, min: 0, max: 1 });

function zeros(number: number): number[] {
  return Array.from({ length: number }, () => 0);
}

function bins(changes: Partial<Bins> = {}): Bins {
  return { step: 0, low: -1, high: 1, counts: zeros(32).map(() => 3), below: 0, above: 0, notFinite: 0, zeros: 0, min: -1, max: 1, total: 96, ...changes };
}

it("reads the bins of a row at each step", () => {
  const header = { layer: layer(), rows: ["kernel/forget", "bias/forget"], columns: ["count", "nan", "positive_infinite", "negative_infinite", "zero", "min", "max"], record_columns: [], log_calls: 1, omitted: [] } as Series;
  const data = records({
    header,
    tensors: new Map([
      ["steps", tensor([1], [5])],
      ["statistics", tensor([1, 2, 7], [...zeros(7), 9, 1, 1, 0, 2, -3, 4])],
      ["histogram", tensor([1, 2, 34], [...zeros(34), 1, ...zeros(31), 4, 2])],
      ["bounds", tensor([1, 2, 2], [0, 0, -2, 2])],
    ]),
  });
  const [only] = binsOf(data, "bias/forget");
  expect(only).toMatchObject({ step: 5, low: -2, high: 2, below: 1, above: 2, notFinite: 2, total: 7, zeros: 2, min: -3, max: 4 });
  expect(only?.counts).toEqual([...zeros(31), 4]);
  expect(binsOf(data, "kernel/output")).toEqual([]);
});

it("draws two values as two bars whose areas are their shares", () => {
  const [ridge] = ridges([TWO_VALUES], [0, 1]);
  const heights = ridge?.bars.map(({ height }) => height) ?? [];
  expect(heights.filter((height) => height > 0)).toEqual([1, 1 / 3]);
  expect(ridge?.bars.some(({ cut }) => cut)).toBe(false);
  expect(outline(ridge?.bars ?? []).length).toBe(64);
});

it("cuts a spike, so that the rest is readable", () => {
  const spiked = bins({ counts: [...zeros(16).map(() => 3), 900, ...zeros(15).map(() => 3)], total: 993 });
  const [ridge] = ridges([spiked], [-1, 1]);
  expect(ridge?.bars[16]).toMatchObject({ height: 1, cut: true });
  expect(ridge?.bars[0]).toMatchObject({ height: 1, cut: false });
});

it("draws a constant as one thin spike at its value", () => {
  const constant = bins({ low: 1, high: 1, counts: [16, ...zeros(31)], total: 16, min: 1, max: 1 });
  const [ridge] = ridges([constant], [0, 2]);
  expect(ridge?.bars.length).toBe(1);
  expect(((ridge?.bars[0]?.from ?? 0) + (ridge?.bars[0]?.to ?? 0)) / 2).toBeCloseTo(0.5);
  expect(binSentence(constant, 0)).toBe("all 16 are 1");
  expect(valueRange([constant])).toEqual([0.5, 1.5]);
});

it("lets one exploded step be, and says where its entries are", () => {
  const usual = Array.from({ length: 10 }, (_, step) => bins({ step }));
  const exploded = bins({ step: 10, low: -1, high: 1e6, counts: [95, ...zeros(30), 1], max: 1e6 });
  const range = valueRange([...usual, exploded]);
  expect(range[1]).toBeCloseTo(1.08);
  expect(beyond(exploded, range)).toBeGreaterThanOrEqual(1);
  expect(outlierSentences([...usual, exploded], range)[0]).toMatch(/^At training step 10 .* of 96 at training step 10, the furthest at 1000000\.$/);
  expect(outlierSentences(usual, range)).toEqual([]);
});

it("counts what lies outside of the bins, and says what is not finite", () => {
  const tails = bins({ below: 2, above: 1, min: -9, max: 1.02 });
  expect(beyond(tails, [-1.08, 1.08])).toBe(2);
  expect(valueRange([tails])[1]).toBeGreaterThan(1.02);
  expect(valueRange([bins({ below: 1, min: -1.5 })])[0]).toBeLessThan(-1.5);
  expect(outlierSentences([tails, bins({ step: 7, notFinite: 4 })], [-1.08, 1.08])).toEqual([
    "At training step 0 some entries lie beyond the axis: at least 2 of 96 at training step 0, the furthest at −9.",
    "At training step 7 entries are NaN or infinite: 4 of 100 at training step 7.",
  ]);
});

it("says what is under the pointer", () => {
  expect(binSentence(TWO_VALUES, 0.01)).toBe("30 of 40 (75 %) from 0 to 0.0313");
  expect(binSentence(bins({ above: 5 }), 1.01)).toBe("5 above 1");
  expect(binSentence(bins({ total: 0 }), 0)).toBe("no finite number");
});

it("shows few ridges, the first, the last and the chosen one among them", () => {
  const many = Array.from({ length: 300 }, (_, step) => bins({ step }));
  const steps = shownSteps(many, 137).map(({ step }) => step);
  expect(steps.length).toBe(20);
  expect([steps[0], steps.at(-1), steps.includes(137)]).toEqual([0, 299, true]);
  expect(shownSteps(many.slice(0, 5), 3).length).toBe(5);
});
