// Tests the colours of values, gates and what is not a number.

import { expect, it } from "vitest";
import { colourOf, colourScale, gateColour, gradient, stepColours } from "./palette";

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
