// Tests the colours of values, gates and what is not a number.

import { expect, it } from "vitest";
import { colourOf, colourScale, gateColour, gradient, normColour, stepColours } from "./palette";

it("colours gates from dark violet to yellow", () => {
  const scale = colourScale({ ramp: "sequential", low: 0, high: 1 }, "light");
  expect(colourOf(scale, 0)).toEqual([68, 1, 84]);
  expect(colourOf(scale, 1)).toEqual([253, 231, 37]);
  expect(colourOf(scale, 7)).toEqual(colourOf(scale, 1));
});

it("colours signs around the page's own colour", () => {
  const light = colourScale({ ramp: "diverging", low: -2, high: 2 }, "light");
  expect(colourOf(light, -2)).toEqual([8, 69, 143]);
  expect(colourOf(light, 2)).toEqual([184, 67, 0]);
  expect(Math.min(...colourOf(light, 0))).toBeGreaterThan(240);
  expect(Math.max(...colourOf(colourScale({ ramp: "diverging", low: -2, high: 2 }, "dark"), 0))).toBeLessThan(50);
});

it("gives what is not finite a colour that no number has", () => {
  for (const ramp of ["sequential", "diverging", "grey"] as const) {
    const scale = colourScale({ ramp, low: 0, high: 1 }, "dark");
    expect(colourOf(scale, NaN)).toEqual([255, 79, 179]);
    expect(colourOf(scale, Infinity)).toEqual(colourOf(scale, NaN));
    const numbers = Array.from({ length: 256 }, (_, entry) => String(colourOf(scale, entry / 255)));
    expect(numbers).not.toContain(String(colourOf(scale, NaN)));
  }
});

it("gives zero, on a logarithmic scale, a colour that no other number has", () => {
  for (const theme of ["light", "dark"] as const) {
    const scale = colourScale({ ramp: "sequential", low: 1e-6, high: 1, log: true }, theme);
    expect(colourOf(scale, 1e-3)).toEqual(colourOf(colourScale({ ramp: "sequential", low: 0, high: 1 }, theme), 0.5));
    expect(colourOf(scale, 1e-30)).toEqual([68, 1, 84]);
    const others = [NaN, ...Array.from({ length: 256 }, (_, entry) => 10 ** (-6 * (1 - entry / 255)))].map((value) => String(colourOf(scale, value)));
    expect(others).not.toContain(String(colourOf(scale, 0)));
  }
});

it("lets lines of later training steps stand out", () => {
  const [first, second, chosen] = stepColours(2, "light");
  expect([first, second, chosen]).toEqual(["rgb(180,184,190)", "rgb(95,99,104)", "#c2500a"]);
  expect(stepColours(0, "dark")).toHaveLength(1);
});

it("writes a colour bar as CSS", () => {
  expect(gradient("grey", "light")).toMatch(/^linear-gradient\(to right, rgb\(241,241,239\), .*rgb\(43,43,43\)\)$/);
});

it("gives a role the same colour in every cell", () => {
  expect(gateColour("update", "light")).toBe(gateColour("forget", "dark"));
  expect(gateColour("cell_state", "light")).not.toBe(gateColour("cell_state", "dark"));
});

/** Linear RGB as seen without one kind of cone: Machado, Oliveira and Fernandes 2009, severity 1.0. */
const COLOUR_BLIND = {
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
} as const;

/** CIE76; 2.3 is just noticeable, side by side. */
const APART = 15;

/** What is drawn into one chart. The names also stand at the lines' ends. */
const TOGETHER = (theme: "light" | "dark"): readonly string[][] => [
  ...[["forget", "input", "candidate", "output"], ["update", "reset", "candidate"], ["candidate", "hidden_state"]].map((gates) =>
    gates.map((gate) => gateColour(gate, theme)),
  ),
  ["hidden_state", "cell_state", "direct"].map((key) => normColour(key, theme)),
];

it.each(Object.entries(COLOUR_BLIND))("keeps the lines of one chart apart under %s", (_, matrix) => {
  for (const colours of [...TOGETHER("light"), ...TOGETHER("dark")]) {
    for (const [index, one] of colours.entries()) {
      for (const other of colours.slice(index + 1)) expect(distance(seen(one, matrix), seen(other, matrix)), `${one} and ${other}`).toBeGreaterThan(APART);
    }
  }
});

/** L*, a* and b* of a colour as somebody sees it. */
function seen(hex: string, matrix: readonly (readonly number[])[]): number[] {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const linear = channels.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  const rgb = product(matrix, linear).map((value) => Math.min(1, Math.max(0, value)));
  const [x = 0, y = 0, z = 0] = product(D65_WHITE_IS_ONE, rgb).map((value) => (value > 216 / 24389 ? Math.cbrt(value) : ((24389 / 27) * value + 16) / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** From linear sRGB to XYZ over that of white. */
const D65_WHITE_IS_ONE = [
  [0.433953, 0.376219, 0.189828],
  [0.212673, 0.715152, 0.072175],
  [0.017757, 0.109474, 0.872769],
];

function product(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  return matrix.map((row) => row.reduce((sum, factor, index) => sum + factor * (vector[index] ?? 0), 0));
}

function distance(one: readonly number[], other: readonly number[]): number {
  return Math.hypot(...one.map((value, index) => value - (other[index] ?? 0)));
}
