// Tests how a layer is described, and when its self-check has failed.

import { expect, it } from "vitest";
import { describeLayer, selfCheck } from "./layer";
import { layer } from "./testing";

it("describes a layer in lines", () => {
  expect(describeLayer(layer())).toEqual(["LSTM · Keras · 3 → 2 units", "gates sigmoid, candidate tanh"]);
});

it("says what is out of the ordinary", () => {
  const options = { activation: "relu", reset_after: false, forget_bias: 1 };
  expect(describeLayer(layer({ cell: "gru", direction: "backward", recurrent_size: 1, options }))).toEqual([
    "GRU · 3 → 2 units → 1 projected",
    "reads the sequence backward",
    "activation relu",
    "reset before the matrix product",
    "forget bias + 1 at run time",
  ]);
});

it("tells a self-check that passed from one that failed", () => {
  expect(selfCheck(layer(), 2.4e-7, 1)).toEqual({ passed: true, text: "checked against the framework: max difference 2.4e−7" });
  expect(selfCheck(layer(), 0.45, 1)).toEqual({
    passed: false,
    text: "does not match the framework (difference 0.45): do not rely on these gates",
  });
  expect(selfCheck(layer(), Infinity, 1)).toMatchObject({ passed: false, text: expect.stringContaining("(difference +Inf)") as string });
  expect(selfCheck(layer(), NaN, 1)).toBeNull();
});

it("allows for half precision, and for large hidden states", () => {
  const passes = (difference: number, largest: number, dtype: string) =>
    selfCheck(layer({ options: { compute_dtype: dtype } }), difference, largest)?.passed;
  expect([passes(0.05, 0, "float32"), passes(0.05, 0, "float64")]).toEqual([false, false]);
  expect([passes(0.05, 0, "float16"), passes(0.05, 0, "bfloat16"), passes(0.2, 0, "float16")]).toEqual([true, true, false]);
  expect([passes(0.05, 1000, "float32"), passes(0.05, NaN, "float32")]).toEqual([true, false]);
});
