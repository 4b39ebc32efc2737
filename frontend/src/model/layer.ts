// A layer in a few lines of plain words.

import type { Layer } from "../api";
import { short } from "./format";

const CELL_NAMES: Readonly<Record<string, string>> = {
  lstm: "LSTM",
  gru: "GRU",
  mgu: "MGU",
  simple_rnn: "Simple RNN",
  unknown: "Unknown cell",
};
const FRAMEWORK_NAMES: Readonly<Record<string, string>> = {
  keras: "Keras",
  tf_keras: "Keras 2",
  tf1: "TensorFlow 1",
  torch: "PyTorch",
  flax: "Flax",
};

/** `difference` is the largest one from the framework's own hidden state; NaN where it is not known. */
export function describeLayer(layer: Layer, difference: number): string[] {
  const { options } = layer;
  const framework = text(options.framework);
  const lines = [
    [CELL_NAMES[layer.cell] ?? layer.cell, framework && (FRAMEWORK_NAMES[framework] ?? framework), sizes(layer)],
    layer.direction === "backward" ? ["reads the sequence backward"] : [],
    activations(options),
    options.reset_after === undefined ? [] : [`reset ${options.reset_after ? "after" : "before"} the matrix product`],
    typeof options.forget_bias === "number" ? [`forget bias + ${short(options.forget_bias)} at run time`] : [],
    Number.isFinite(difference) ? [`checked against the framework: max difference ${short(difference, 2)}`] : [],
  ];
  return lines.map((parts) => parts.filter(Boolean).join(" · ")).filter((line) => line !== "");
}

function sizes({ input_size: inputs, units, recurrent_size: hidden }: Layer): string {
  const projection = hidden === units ? "" : ` → ${hidden} projected`;
  return `${inputs} → ${units} units${projection}`;
}

function activations(options: Layer["options"]): string[] {
  const gates = text(options.recurrent_activation);
  const candidate = text(options.activation);
  if (gates && candidate) return [`gates ${gates}, candidate ${candidate}`];
  return candidate ? [`activation ${candidate}`] : [];
}

function text(option: unknown): string {
  return typeof option === "string" ? option : "";
}
