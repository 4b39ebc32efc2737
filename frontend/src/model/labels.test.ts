// Tests which labels of a time axis are drawn, and where.

import { expect, it } from "vitest";
import { characterWidthFor, fittingLabels, numberLabels, spreadApart } from "./labels";

it("shows single characters next to each other and marks white space", () => {
  const texts = fittingLabels(["a", " ", "b", "\n", ""], 8, 6).map(({ text }) => text);
  expect(texts).toEqual(["a", "·", "b", "⏎"]);
});

it("leaves out words that have no room, and keeps the first and last within the axis", () => {
  const labels = fittingLabels(["alpha", "beta", "gamma", "delta"], 22, 6);
  expect(labels.map(({ text }) => text)).toEqual(["alpha", "gamma"]);
  expect(labels[0]?.x).toBe(15);
  expect(fittingLabels(["a", "long word"], 40, 6).at(-1)?.x).toBe(80 - 27);
});

it("shortens a long label and gives wide characters two places", () => {
  expect(fittingLabels(["a very long label indeed"], 500, 6)[0]?.text).toBe("a very long label i…");
  expect(fittingLabels(["日本", "語"], 12, 6).map(({ text }) => text)).toEqual(["日本"]);
});

it("numbers timesteps at round distances, in timesteps and not in columns", () => {
  expect(numberLabels(64, 1, 4, 6).map(({ text }) => text)).toEqual(["0", "10", "20", "30", "40", "50", "60"]);
  expect(numberLabels(4, 3, 50, 6).map(({ text }) => text)).toEqual(["0", "3", "6", "9"]);
});

it("moves labels apart, in their order and between the ends", () => {
  expect(spreadApart([50, 10, 12], 5, 0, 100)).toEqual([50, 10, 15]);
  expect(spreadApart([99, 98], 5, 0, 100)).toEqual([100, 95]);
  expect(spreadApart([-3], 5, 0, 100)).toEqual([0]);
});

it("writes single characters as narrow as their columns, so that none is left out", () => {
  const text = Array.from("a text as long as this one");
  expect(characterWidthFor(text, 5.4, 6)).toBe(5.4);
  expect(fittingLabels(text, 5.4, 5.4)).toHaveLength(text.length);
  expect(characterWidthFor(text, 20, 6)).toBe(6);
  expect(characterWidthFor(text, 3, 6)).toBe(6);
  expect(characterWidthFor(["a", "word"], 5.4, 6)).toBe(6);
});
