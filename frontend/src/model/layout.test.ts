// Tests how heatmaps share the room of the frame.

import { expect, it } from "vitest";
import { heatmapHeight, heatmapsPerLine, weightHeight, weightsWidth, widestHeatmap } from "./layout";

it("puts short sequences side by side, in even lines", () => {
  expect(heatmapsPerLine(1000, 126, 6)).toBe(1);
  expect(heatmapsPerLine(1000, 8, 6)).toBe(3);
  expect(heatmapsPerLine(1000, 8, 4)).toBe(2);
  expect(heatmapsPerLine(1600, 8, 6)).toBe(3);
  expect(heatmapsPerLine(1000, 8, 1)).toBe(1);
  expect(heatmapsPerLine(0, 8, 6)).toBe(1);
});

it("gives every unit at least a pixel and no unit more than a line", () => {
  expect(heatmapHeight(100, 64)).toBe(100);
  expect(heatmapHeight(30, 64)).toBe(64);
  expect(heatmapHeight(500, 2)).toBe(52);
  expect(heatmapHeight(500, 0)).toBe(24);
});

it("does not stretch a few cells over the page", () => {
  expect(widestHeatmap(2)).toBe(280);
  expect(widestHeatmap(10)).toBe(640);
  expect(weightsWidth(1000, 3)).toBe(240);
  expect(weightsWidth(1000, 16)).toBe(448);
  expect(weightsWidth(230, 40)).toBe(230);
});

it("makes weights square where they fit", () => {
  expect(weightHeight(1, 40, 200, 240)).toBe(14);
  expect(weightHeight(40, 40, 200, 240)).toBe(200);
  expect(weightHeight(128, 28, 200, 240)).toBe(240);
  expect(weightHeight(300, 4, 200, 240)).toBe(300);
});
