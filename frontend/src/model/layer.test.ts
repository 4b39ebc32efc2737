import { expect, it } from "vitest";
import { describeLayer } from "./layer";
import { layer } from "./testing";

it("describes a layer in lines", () => {
  expect(describeLayer(layer(), 2.4e-7)).toEqual([
    "LSTM · Keras · 3 → 2 units",
    "gates sigmoid, candidate tanh",
    "checked against the framework: max difference 2.4e−7",
  ]);
});

it("says what is out of the ordinary", () => {
  const options = { activation: "relu", reset_after: false, forget_bias: 1 };
  expect(describeLayer(layer({ cell: "gru", direction: "backward", recurrent_size: 1, options }), NaN)).toEqual([
    "GRU · 3 → 2 units → 1 projected",
    "reads the sequence backward",
    "activation relu",
    "reset before the matrix product",
    "forget bias + 1 at run time",
  ]);
});
