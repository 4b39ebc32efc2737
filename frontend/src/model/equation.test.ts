// Tests the equations' numbers against numbers computed by hand here.

import { expect, it } from "vitest";
import type { Layer } from "../api";
import { equation } from "./equation";
import { recovered } from "./equationFunctions";
import { unitValues, type UnitValues } from "./equationValues";
import { layer, tensor } from "./testing";

const LSTM: UnitValues = {
  layer: layer(),
  unit: 41,
  gates: { forget: 0.75, input: 0.5, candidate: -0.5, output: 0.25 },
  preactivations: { forget: 1.0986, input: 0, candidate: -0.5493, output: -1.0986 },
  cellState: 0.65,
  hiddenState: 0.1429,
  before: { cellState: 1.2, hiddenState: 0.3 },
  dtype: "F16",
};

function lines(values: UnitValues, peepholes: string[] = []): Record<string, string> {
  const found = equation(values, peepholes)?.lines ?? [];
  return Object.fromEntries(found.map(({ name, sides, value }) => [name, [...sides, value].join(" = ")]));
}

function withOptions(values: UnitValues, options: Layer["options"], changes: Partial<Layer> = {}): UnitValues {
  return { ...values, layer: { ...values.layer, ...changes, options: { ...values.layer.options, ...options } } };
}

function notes(values: UnitValues, peepholes: string[] = []): string {
  return equation(values, peepholes)?.notes.join(" ") ?? "";
}

it("writes an LSTM's cell state from the old one", () => {
  // 0.75 x 1.2 = 0.9; 0.5 x -0.5 = -0.25; tanh(0.65) = 0.5717.
  expect(lines(LSTM)).toEqual({
    forget: "sigmoid(1.1) = 0.75",
    input: "sigmoid(0) = 0.5",
    candidate: "tanh(−0.549) = −0.5",
    output: "sigmoid(−1.1) = 0.25",
    "cell state": "forget × old cell state + input × candidate = 0.75 × 1.2 + 0.5 × (−0.5) = 0.9 − 0.25 = 0.65",
    "hidden state": "output × tanh(cell state) = 0.25 × 0.572 = 0.143",
  });
  expect(equation(LSTM)?.reading).toBe("Kept 75 % of what it knew, wrote −0.25 and showed 25 % of its memory.");
});

it("says that almost nothing was written", () => {
  const values = { ...LSTM, gates: { ...LSTM.gates, input: 0.01 }, cellState: 0.895 };
  expect(equation(values)?.reading).toContain("wrote almost nothing");
});

it("takes the first state for zero only where the numbers agree", () => {
  const first = { ...LSTM, before: null, cellState: -0.25 };
  expect(lines(first)["cell state"]).toContain("0.75 × 0 + 0.5 × (−0.5) = 0 − 0.25 = −0.25");
  expect(notes(first)).toContain("with zero the numbers agree");
  const other = { ...LSTM, before: null };
  expect(lines(other)["cell state"]).toContain("= 0.75 × initial cell state + 0.5 × (−0.5) = 0.65");
  expect(notes(other)).toContain("it was not zero");
});

it("states forget bias, peepholes, clipping and the projection", () => {
  const clipped = { ...withOptions(LSTM, { cell_clip: 0.5, forget_bias: 1 }), cellState: 0.5 };
  expect(lines(clipped)["cell state"]).toContain("= 0.9 − 0.25, clipped to ±0.5 = 0.5");
  expect(notes(clipped)).toContain("forget has 1 added at run time");
  expect(notes(LSTM, ["input", "output"])).toContain(
    "the pre-activation of input also has a weight times the old cell state, that of output a weight times the new one",
  );
  const projected = { ...withOptions(LSTM, { projection_clip: 2 }, { units: 6, recurrent_size: 3 }), hiddenState: undefined };
  // 0.25 x tanh(0.65) = 0.14292
  expect(lines(projected)["before the projection"]).toBe("output × tanh(cell state) = 0.25 × 0.572 = 0.143");
  expect(notes(projected)).toContain("3 components, each a sum of this over all 6 units (projection), clipped to ±2.");
});

const GRU: UnitValues = {
  ...LSTM,
  layer: layer({ cell: "gru", gates: ["reset", "update", "candidate"], options: { reset_after: true } }),
  gates: { reset: 0.5, update: 0.75, candidate: -0.5 },
  preactivations: {},
  cellState: undefined,
  hiddenState: 0.175,
  before: { cellState: undefined, hiddenState: 0.4 },
};

it("keeps the old state of a GRU by its update gate", () => {
  // 0.75 x 0.4 = 0.3; 0.25 x -0.5 = -0.125; ln 3 = 1.0986; atanh(-0.5) = -0.5493, known to a hundredth.
  expect(lines(GRU)).toEqual({
    reset: "sigmoid(0) = 0.5",
    update: "sigmoid(1.1) = 0.75",
    candidate: "tanh(−0.55) = −0.5",
    "hidden state": "update × old hidden state + (1 − update) × candidate = 0.75 × 0.4 + 0.25 × (−0.5) = 0.3 − 0.125 = 0.175",
  });
  expect(equation(GRU)?.reading).toBe("Kept 75 % of its old state and took 25 % of the candidate.");
  expect(notes(GRU)).toContain("multiplied by reset (0.5), after the matrix product");
  expect(notes(withOptions(GRU, { reset_after: false }))).toContain("before the matrix product");
});

it("swaps the two where the update gate overwrites", () => {
  // 0.25 x 0.4 = 0.1; 0.75 x -0.5 = -0.375.
  const swapped = { ...withOptions(GRU, { update_keeps: false }), hiddenState: -0.275 };
  expect(lines(swapped)["hidden state"]).toBe(
    "(1 − update) × old hidden state + update × candidate = 0.25 × 0.4 + 0.75 × (−0.5) = 0.1 − 0.375 = −0.275",
  );
});

it("writes both kinds of minimal gated unit", () => {
  const mgu = { ...withOptions(GRU, { forget_keeps: true }, { cell: "mgu", gates: ["forget", "candidate"] }), gates: { forget: 0.75, candidate: -0.5 } };
  expect(lines(mgu)["hidden state"]).toMatch(/^forget × old hidden state \+ \(1 − forget\) × candidate = 0.75 × 0.4/);
  expect(lines(withOptions(mgu, { forget_keeps: false }))["hidden state"]).toMatch(/^\(1 − forget\) × old hidden state \+ forget × candidate = 0.25 × 0.4/);
});

it("writes a simple RNN and no unknown cell", () => {
  const rnn: UnitValues = { ...LSTM, layer: layer({ cell: "simple_rnn", gates: ["hidden"] }), gates: { hidden: -0.5 }, preactivations: {} };
  expect(lines(rnn)).toEqual({ "hidden state": "tanh(−0.55) = −0.5" });
  expect(equation({ ...rnn, layer: layer({ cell: "unknown", gates: [] }) })).toBeNull();
});

it("computes a pre-activation back only with the digits that there are", () => {
  expect(recovered("sigmoid", 0.75, "F16")).toBe("1.1");
  // Neighbours of 0.9995 in float16 are 0.0005 apart: anything from 7.1 to 8.3.
  expect(recovered("sigmoid", 0.99951171875, "F16")).toBeNull();
  expect(recovered("sigmoid", 1, "F16")).toBeNull();
  expect(recovered("relu", 0, "F16")).toBeNull();
  expect(recovered("gelu", 0.5, "F16")).toBeNull();
});

const header = {
  step: 5,
  layer: layer(),
  units: [40, 7],
  samples: 1,
  timesteps: 4,
  block: 1,
  sample_names: null,
  time_labels: null,
};
const numbers = [0, 1, 2, 3, 4, 5, 6, 7].map((value) => value / 8);
const tensors = new Map([
  ...header.layer.gates.map((gate) => [`activation/${gate}`, tensor([1, 4, 2], numbers, "F16")] as const),
  ["cell_state", tensor([1, 4, 2], numbers, "F16")] as const,
  ["hidden_state", tensor([1, 4, 2], numbers, "F16")] as const,
  ["mask", tensor([1, 4], [1, 0, 1, 1], "U8")] as const,
]);

it("takes the state before from the last timestep that was run", () => {
  const found = unitValues({ header, tensors }, 0, 7, 2);
  expect(found).toMatchObject({ cellState: 5 / 8, before: { cellState: 1 / 8, hiddenState: 1 / 8 }, dtype: "F16" });
  expect(unitValues({ header, tensors }, 0, 7, 0)).toMatchObject({ before: null });
  const backward = { ...header, layer: layer({ direction: "backward" }) };
  expect(unitValues({ header: backward, tensors }, 0, 40, 0)).toMatchObject({ before: { cellState: 4 / 8 } });
});

it("has no numbers where there is no equation", () => {
  expect(unitValues({ header, tensors }, 0, 7, 1)).toBe("masked");
  expect(unitValues({ header, tensors }, 0, 7, 4)).toBe("outside");
  expect(unitValues({ header, tensors }, 0, 8, 0)).toBe("not kept");
  expect(unitValues({ header: { ...header, block: 2 }, tensors }, 0, 7, 0)).toBe("averaged");
});
