// Tests which tracks share a row, and what is drawn of them.

import { expect, it } from "vitest";
import type { Track } from "./activations";
import { trackRange } from "./scales";
import { barPath, markPath, notFiniteColumns, trackRows } from "./trackRows";

function track(key: string, values: readonly number[], rows = 1, gaps?: readonly boolean[]): Track {
  const matrix = { rows, columns: values.length / rows, values: Float32Array.from(values), dtype: "F32", gaps };
  const features = Array.from({ length: rows }, (_, row) => row);
  return { key, matrix, range: trackRange(matrix), features, allFeatures: rows };
}

it("draws one feature as a line and many as a heatmap", () => {
  expect(trackRows([track("input", [1, 3, -2])])).toMatchObject([{ kind: "lines", range: [-2, 3] }]);
  expect(trackRows([track("input", [1, 3, -2, 4], 2)])).toMatchObject([{ kind: "map" }]);
  expect(trackRows([track("input", [5, 5])])).toMatchObject([{ range: [0, 5] }]);
});

it("has target and prediction on one row and one range", () => {
  const [row, ...others] = trackRows([track("target", [0, 1]), track("prediction", [0.25, 1.5])]);
  expect(others).toEqual([]);
  expect(row).toMatchObject({ kind: "lines", range: [0, 1.5] });
  expect(row?.tracks.map(({ key }) => key)).toEqual(["target", "prediction"]);
  const maps = trackRows([track("target", [0, 1, 0, 1], 2), track("prediction", [0, 4, 1, 1], 2)]);
  expect(maps.map(({ kind, tracks }) => [kind, tracks[0]?.range.high])).toEqual([
    ["map", 4],
    ["map", 4],
  ]);
});

it("compares classes one by one, masked timesteps left out", () => {
  const gaps = [false, false, true, false];
  const [row] = trackRows([track("target", [3, 5, 0, 2], 1, gaps), track("prediction", [3, 4, 0, NaN], 1, gaps)]);
  expect(row).toMatchObject({ kind: "matches", matches: [true, false, null, null] });
});

it("draws the loss as bars from zero", () => {
  const [row] = trackRows([track("loss", [0.5, NaN, 2])]);
  expect(row).toMatchObject({ kind: "bars", range: [0, 2] });
  expect(barPath([0.5, NaN, 2], [0, 2])).toBe("M0.1 1.0000V0.7500H0.9V1.0000ZM2.1 1.0000V0.0000H2.9V1.0000Z");
  expect(markPath([1], 0.5)).toBe("M1.1 1V0.5H1.9V1Z");
  expect(notFiniteColumns(row?.tracks ?? [])).toEqual([1]);
});
