// The weights of a snapshot as columns of blocks: one column per gate, one block per part.

import type { WeightsHeader } from "../api";
import type { Tensor } from "../safetensors";
import { gatesOnScreen, words } from "./gates";
import { weightMatrix, type Matrix } from "./matrix";

export interface WeightBlock {
  /** The array in the snapshot and the row in the statistics: "kernel/forget". */
  readonly array: string;
  /** "kernel", the same word for all gates. */
  readonly part: string;
  readonly label: string;
  /** Of the whole weight, not of the entries that are kept. */
  readonly size: string;
  readonly matrix: Matrix;
  /** What an entry is, such as "input 3 → unit 41". */
  readonly place: (row: number, column: number) => string;
}

export interface WeightColumn {
  /** A gate, "projection", or an unknown cell's own name of a weight. */
  readonly key: string;
  readonly name: string;
  readonly blocks: readonly WeightBlock[];
}

const PARTS = ["kernel", "recurrent_kernel", "bias", "recurrent_bias", "peephole"];

export function weightColumns(header: WeightsHeader, tensors: ReadonlyMap<string, Tensor>): WeightColumn[] {
  const gates = gatesOnScreen(header.layer.gates).map((gate) => ({
    key: gate,
    name: words(gate),
    blocks: PARTS.flatMap((part) => block(header, tensors, part, `${part}/${gate}`)),
  }));
  const projection = { key: "projection", name: "projection", blocks: block(header, tensors, "projection", "projection") };
  const own = Array.from(tensors.keys(), (array) => ownWeight(header, tensors, array));
  return [...gates, projection, ...own].filter((column) => column.blocks.length > 0);
}

/** Two snapshots can be compared entry by entry where they hold the same entries of the same layer. */
export function sameEntries(a: WeightsHeader, b: WeightsHeader): boolean {
  const entries = ({ units, inputs, recurrent_inputs, layer }: WeightsHeader): string =>
    JSON.stringify([units, inputs, recurrent_inputs, layer.cell, layer.units, layer.input_size, layer.recurrent_size]);
  return entries(a) === entries(b);
}

function ownWeight(header: WeightsHeader, tensors: ReadonlyMap<string, Tensor>, array: string): WeightColumn {
  const name = array.startsWith("weights/") ? array.slice("weights/".length) : "";
  return { key: array, name, blocks: name ? block(header, tensors, array, array) : [] };
}

function block(header: WeightsHeader, tensors: ReadonlyMap<string, Tensor>, part: string, array: string): WeightBlock[] {
  const tensor = tensors.get(array);
  if (!tensor || tensor.values.length === 0) return [];
  return [
    {
      array,
      part,
      label: part.startsWith("weights/") ? "" : words(part),
      size: wholeSize(header, part, tensor),
      matrix: weightMatrix(tensor),
      place: (row, column) => placeOf(header, part, row, column),
    },
  ];
}

function wholeSize({ layer }: WeightsHeader, part: string, tensor: Tensor): string {
  switch (part) {
    case "kernel":
      return `${layer.input_size} × ${layer.units}`;
    case "recurrent_kernel":
      return `${layer.recurrent_size} × ${layer.units}`;
    case "projection":
      return `${layer.units} × ${layer.recurrent_size}`;
    case "bias":
    case "recurrent_bias":
    case "peephole":
      return String(layer.units);
    default:
      return tensor.shape.join(" × ");
  }
}

function placeOf(header: WeightsHeader, part: string, row: number, column: number): string {
  const unit = header.units[column] ?? column;
  switch (part) {
    case "kernel":
      return `input ${header.inputs[row] ?? row} → unit ${unit}`;
    case "recurrent_kernel":
      return `hidden state ${header.recurrent_inputs[row] ?? row} → unit ${unit}`;
    case "projection":
      return `unit ${header.units[row] ?? row} → hidden state ${header.recurrent_inputs[column] ?? column}`;
    case "bias":
    case "recurrent_bias":
    case "peephole":
      return `unit ${unit}`;
    default:
      return `row ${row}, column ${column}`;
  }
}
