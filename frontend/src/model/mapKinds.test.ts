// Tests what was kept and written against products computed by hand, and when there are such maps.

import { expect, it } from "vitest";
import type { Layer } from "../api";
import type { Tensor } from "../safetensors";
import { possibleKinds, sampleOfKind } from "./mapKinds";
import { layer, tensor } from "./testing";

function snapshot(of: Layer, arrays: Record<string, readonly number[]>, block = 1) {
  const header = { step: 0, layer: of, units: [0], samples: 1, timesteps: 3, block, sample_names: null, time_labels: null };
  const tensors = new Map<string, Tensor>([["mask", tensor([1, 3], [1, 0, 1], "U8")]]);
  for (const [name, values] of Object.entries(arrays)) tensors.set(name, tensor([1, 3, 1], values));
  return { header, tensors };
}

const one = { units: 1, recurrent_size: 1 };
const LSTM = snapshot(layer(one), {
  "activation/forget": [0.5, 0, 0.25],
  "activation/input": [0.5, 0, 1],
  "activation/candidate": [0.5, 0, -0.5],
  "activation/output": [1, 0, 1],
  cell_state: [0.25, 0, -0.4375],
  hidden_state: [0.25, 0, -0.4],
});

function valuesOf(found: ReturnType<typeof sampleOfKind>, key: string): number[] {
  return Array.from(found.rows.find((row) => row.key === key)?.matrix.values ?? []);
}

it("tells what an LSTM kept from what it wrote, over a masked timestep", () => {
  const found = sampleOfKind(LSTM, 0, "written", undefined);
  expect(found.rows.map(({ key }) => key)).toEqual(["forget", "input", "candidate", "output", "kept", "written", "cell_state", "hidden_state"]);
  // 0.25 x 0.25; the first state was written alone.
  expect([valuesOf(found, "kept")[0], valuesOf(found, "kept")[2]]).toEqual([0, 0.0625]);
  expect([valuesOf(found, "written")[0], valuesOf(found, "written")[2]]).toEqual([0.25, -0.5]);
  expect(found.rows[4]?.range).toEqual(found.rows[5]?.range);
});

it("takes what is missing from the first state for kept, unless it may be clipped", () => {
  const tensors = new Map([...LSTM.tensors, ["cell_state", tensor([1, 3, 1], [0.75, 0, 0])] as const]);
  expect(valuesOf(sampleOfKind({ ...LSTM, tensors }, 0, "written", undefined), "kept")[0]).toBe(0.5);
  const clipped = { tensors, header: { ...LSTM.header, layer: layer({ ...one, options: { cell_clip: 3 } }) } };
  expect(valuesOf(sampleOfKind(clipped, 0, "written", undefined), "kept")[0]).toBeNaN();
});

it("follows the way of a GRU's update gate", () => {
  const gates = ["reset", "update", "candidate"];
  const arrays = { "activation/update": [0, 0, 0.25], "activation/candidate": [0.5, 0, 0.5], hidden_state: [0.5, 0, 0.5] };
  const keeping = snapshot(layer({ ...one, cell: "gru", gates, options: {} }), arrays);
  const overwriting = snapshot(layer({ ...one, cell: "gru", gates, options: { update_keeps: false } }), arrays);
  expect(valuesOf(sampleOfKind(keeping, 0, "written", undefined), "kept")[2]).toBe(0.125);
  expect(valuesOf(sampleOfKind(keeping, 0, "written", undefined), "written")[2]).toBe(0.375);
  expect(valuesOf(sampleOfKind(overwriting, 0, "written", undefined), "kept")[2]).toBe(0.375);
});

it("offers what the picture has", () => {
  expect(possibleKinds(LSTM, 0)).toEqual(["gates", "written"]);
  expect(possibleKinds(snapshot(layer(one), {}, 4), 0)).toEqual(["gates"]);
  expect(possibleKinds(snapshot(layer({ cell: "unknown", gates: [] }), {}), 0)).toEqual(["gates"]);
  const hidden = snapshot(layer({ ...one, cell: "simple_rnn", gates: ["hidden"] }), {
    "activation/hidden": [0, 0, 0],
    "preactivation/hidden": [1, 2, 3],
    hidden_state: [0, 0, 0],
  });
  expect(possibleKinds(hidden, 0)).toEqual(["gates", "preactivations"]);
  expect(possibleKinds(hidden, 1)).toEqual(["gates"]);
  const found = sampleOfKind(hidden, 0, "preactivations", undefined);
  expect(found.rows.map(({ key, meaning }) => [key, meaning])).toEqual([
    ["hidden", "before tanh"],
    ["hidden_state", "what the next layer sees"],
  ]);
  expect(valuesOf(found, "hidden")).toEqual([1, 2, 3]);
});
