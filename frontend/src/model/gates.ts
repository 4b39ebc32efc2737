// What each row of a cell is called, means and looks like.

import type { Layer } from "../api";

/** A share of 0..1, a state within -1..1, or one without bounds. */
export type Scale = "open" | "signed" | "unbounded";

export interface Row {
  /** The array in the snapshot: "activation/forget", "cell_state", ... */
  readonly array: string;
  /** As in the URL and in the gate picker: "forget", "cell_state", ... */
  readonly key: string;
  readonly name: string;
  readonly meaning: string;
  readonly scale: Scale;
}

const MEANINGS: Readonly<Record<string, string>> = {
  "lstm/forget": "1 = keep",
  "lstm/input": "1 = write",
  "lstm/candidate": "what could be written",
  "lstm/output": "1 = show",
  "gru/reset": "1 = use the old state for the candidate",
  "gru/update": "1 = keep the old state",
  "gru/candidate": "what could be written",
  "mgu/candidate": "what could be written",
  "simple_rnn/hidden": "the new hidden state",
};

/** Reading order on screen: what is kept, what is written, what is shown. Other gates follow in their own order. */
const SCREEN_ORDER = ["forget", "input", "reset", "update", "candidate", "output"];

/** Gates whose activation is a state and not a share of 0..1. */
const SIGNED = new Set(["candidate", "hidden"]);

/** The rows of the activations panel, of those arrays that the snapshot has. */
export function activationRows(layer: Layer, arrays: Iterable<string>): Row[] {
  const present = new Set(arrays);
  const rows = gatesOnScreen(layer.gates).map((gate) => gateRow(layer, gate));
  return [...rows, CELL_STATE, HIDDEN_STATE].filter((row) => present.has(row.array));
}

/** The same gates before their functions. */
export function preactivationRows(layer: Layer): Row[] {
  return gatesOnScreen(layer.gates).map((gate) => {
    const { activation = "tanh", recurrent_activation: recurrent = "sigmoid" } = layer.options;
    const before = String(SIGNED.has(gate) ? activation : recurrent);
    return { ...gateRow(layer, gate), array: `preactivation/${gate}`, meaning: `before ${before}`, scale: "unbounded" };
  });
}

export function gatesOnScreen(gates: readonly string[]): string[] {
  const place = (gate: string): number => (SCREEN_ORDER.indexOf(gate) + SCREEN_ORDER.length + 1) % (SCREEN_ORDER.length + 1);
  return [...gates].sort((a, b) => place(a) - place(b));
}

/** Whether the activation is a state of -1..1 and not a share. */
export function isSigned(gate: string): boolean {
  return SIGNED.has(gate);
}

/** A key of the URL as words: cell_state -> cell state. */
export function words(key: string): string {
  return key.replace(/_/g, " ");
}

function gateRow(layer: Layer, gate: string): Row {
  return {
    array: `activation/${gate}`,
    key: gate,
    name: words(gate),
    meaning: meaning(layer, gate),
    scale: isSigned(gate) ? "signed" : "open",
  };
}

/** The gate between the old state and the candidate stands for either, as the framework has it. */
function meaning({ cell, options }: Layer, gate: string): string {
  if (cell === "gru" && gate === "update" && options.update_keeps === false) return "1 = take the candidate";
  if (cell === "mgu" && gate === "forget") return options.forget_keeps ? "1 = keep the old state" : "1 = take the candidate";
  return MEANINGS[`${cell}/${gate}`] ?? "";
}

const CELL_STATE: Row = {
  array: "cell_state",
  key: "cell_state",
  name: "cell state",
  meaning: "the memory",
  scale: "unbounded",
};
const HIDDEN_STATE: Row = {
  array: "hidden_state",
  key: "hidden_state",
  name: "hidden state",
  meaning: "what the next layer sees",
  scale: "signed",
};
