// A layer in a few lines of plain words, and whether its gates can be relied on.

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

/** Largest differences that rounding explains, as shares of 1 + the largest hidden state. */
const TOLERANCE = 1e-2;
const HALF_PRECISION_TOLERANCE = 0.1;
const HALF_PRECISION = ["float16", "bfloat16"];

export interface SelfCheck {
  readonly text: string;
  readonly passed: boolean;
}

export function describeLayer(layer: Layer): string[] {
  const { options } = layer;
  const framework = text(options.framework);
  const lines = [
    [CELL_NAMES[layer.cell] ?? layer.cell, framework && (FRAMEWORK_NAMES[framework] ?? framework), sizes(layer)],
    layer.direction === "backward" ? ["reads the sequence backward"] : [],
    activations(options),
    options.reset_after === undefined ? [] : [`reset ${options.reset_after ? "after" : "before"} the matrix product`],
    typeof options.forget_bias === "number" ? [`forget bias + ${short(options.forget_bias)} at run time`] : [],
  ];
  return lines.map((parts) => parts.filter(Boolean).join(" · ")).filter((line) => line !== "");
}

/**
 * Whether the recomputed hidden state is the framework's own; null where that is not known.
 *
 * @param difference - the largest one between the two; NaN where there is none to compare with
 * @param largest - the largest magnitude of the hidden state
 */
export function selfCheck({ options }: Layer, difference: number, largest: number): SelfCheck | null {
  if (Number.isNaN(difference)) return null;
  const isHalf = HALF_PRECISION.includes(text(options.compute_dtype ?? options.dtype));
  const scale = 1 + (Number.isFinite(largest) ? largest : 0);
  const passed = difference <= scale * (isHalf ? HALF_PRECISION_TOLERANCE : TOLERANCE);
  const number = short(difference, 2);
  return {
    passed,
    text: passed
      ? `checked against the framework: max difference ${number}`
      : `does not match the framework (difference ${number}): do not rely on these gates`,
  };
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
