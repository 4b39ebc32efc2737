// Small layers and arrays for the tests beside this file.

import type { Layer } from "../api";
import type { Tensor } from "../safetensors";

export function layer(changes: Partial<Layer> = {}): Layer {
  return {
    id: "lstm_0",
    cell: "lstm",
    direction: "forward",
    gates: ["input", "forget", "candidate", "output"],
    input_size: 3,
    recurrent_size: 2,
    units: 2,
    options: { framework: "keras", activation: "tanh", recurrent_activation: "sigmoid" },
    ...changes,
  };
}

export function tensor(shape: readonly number[], values: readonly number[], dtype = "F32"): Tensor {
  return { dtype, shape, values: Float32Array.from(values) };
}
