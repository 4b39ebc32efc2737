// Tests the colour ranges of gates, states and tracks.

import { expect, it } from "vitest";
import { activationRows } from "./gates";
import { rowRange, symmetric, trackRange } from "./scales";
import { layer } from "./testing";

const matrix = { rows: 1, columns: 2, values: Float32Array.of(-0.5, 3), dtype: "F32" };
const row = (key: string) => {
  const found = activationRows(layer(), [`activation/${key}`, key]).find((one) => one.key === key);
  if (!found) throw new Error(`no row ${key}`);
  return found;
};

it("fixes the ranges of what is bounded", () => {
  expect(rowRange(row("forget"), layer(), matrix, undefined)).toEqual({ ramp: "sequential", low: 0, high: 1, open: false });
  expect(rowRange(row("hidden_state"), layer(), matrix, undefined)).toEqual({ ramp: "diverging", low: -1, high: 1, open: false });
});

it("takes a robust range for a cell state and for what other functions leave unbounded", () => {
  const open = { ramp: "diverging", low: -3, high: 3, open: true };
  expect(rowRange(row("cell_state"), layer(), matrix, undefined)).toEqual(open);
  const relu = layer({ options: { activation: "relu", recurrent_activation: "sigmoid" } });
  expect(rowRange(row("candidate"), relu, matrix, undefined)).toEqual(open);
  expect(rowRange(row("hidden_state"), layer({ recurrent_size: 1 }), matrix, undefined)).toEqual(open);
});

it("gives tracks grey for amounts and two colours for signs", () => {
  expect(trackRange({ ...matrix, values: Float32Array.of(0, 29) })).toEqual({ ramp: "grey", low: 0, high: 29, open: false });
  expect(trackRange(matrix)).toEqual({ ramp: "diverging", low: -3, high: 3, open: false });
  expect(trackRange({ ...matrix, values: Float32Array.of(NaN, 0) })).toEqual({ ramp: "grey", low: 0, high: 1, open: false });
  expect(symmetric(0.123)).toEqual({ ramp: "diverging", low: -0.13, high: 0.13, open: true });
});
