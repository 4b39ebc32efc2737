// The stored numbers of one unit at one timestep, and its state one timestep before.

import type { ActivationsHeader, Layer } from "../api";
import type { Payload, Tensor } from "../safetensors";
import { sampleGaps } from "./matrix";

export interface UnitValues {
  readonly layer: Layer;
  readonly unit: number;
  readonly gates: Readonly<Record<string, number>>;
  /** Of those gates where they are stored. */
  readonly preactivations: Readonly<Record<string, number>>;
  readonly cellState: number | undefined;
  /** Undefined where the hidden state is projected: its components are not units. */
  readonly hiddenState: number | undefined;
  /** The state before this timestep; null at the first one that was run. */
  readonly before: { readonly cellState: number | undefined; readonly hiddenState: number | undefined } | null;
  /** Of the stored gates. */
  readonly dtype: string;
}

/** Why there are no such numbers at a place. */
export type NoValues = "masked" | "averaged" | "outside" | "not kept";

type Snapshot = Payload<ActivationsHeader>;

/** Products of stored float16 numbers may differ by so much, as a share of their sizes. */
const ROUNDING: Readonly<Record<string, number>> = { F16: 2 ** -9, F32: 2 ** -20, F64: 2 ** -40 };

/** Whether the new state is what was written alone, so that the state before can be taken for zero. */
export function startsFromZero(layer: Layer, written: number, state: number, dtype: string): boolean {
  const clip = cellClip(layer) ?? Infinity;
  const tolerance = (ROUNDING[dtype] ?? 2 ** -9) * (Math.abs(written) + Math.abs(state)) + 1e-6;
  return Math.abs(Math.min(clip, Math.max(-clip, written)) - state) <= tolerance;
}

export function cellClip({ options }: Layer): number | undefined {
  return typeof options.cell_clip === "number" ? options.cell_clip : undefined;
}

export function unitValues({ header, tensors }: Snapshot, sample: number, unit: number, column: number): UnitValues | NoValues {
  const { layer, block } = header;
  const gaps = sampleGaps(tensors.get("mask"), sample) ?? [];
  const position = header.units.indexOf(unit);
  if (column >= gaps.length) return "outside";
  if (position < 0) return "not kept";
  if (gaps[column]) return "masked";
  if (block > 1) return "averaged";
  const projected = layer.recurrent_size !== layer.units;
  const value = (array: string, at: number): number | undefined => entry(tensors.get(array), sample, at, position);
  const states = (at: number) => ({
    cellState: value("cell_state", at),
    hiddenState: projected ? undefined : entry(tensors.get("hidden_state"), sample, at, (header.hidden_units ?? header.units).indexOf(unit)),
  });
  const previous = columnBefore(gaps, column, layer.direction);
  return {
    layer,
    unit,
    gates: known(layer.gates, (gate) => value(`activation/${gate}`, column)),
    preactivations: known(layer.gates, (gate) => value(`preactivation/${gate}`, column)),
    ...states(column),
    before: previous === undefined ? null : states(previous),
    dtype: tensors.get(`activation/${layer.gates[0] ?? ""}`)?.dtype ?? "F16",
  };
}

/** The timestep that ran before; a backward layer reads from the last to the first. A masked one carries the state on. */
export function columnBefore(gaps: readonly boolean[], column: number, direction: string): number | undefined {
  const by = direction === "backward" ? 1 : -1;
  for (let at = column + by; at >= 0 && at < gaps.length; at += by) if (!gaps[at]) return at;
  return undefined;
}

function known(gates: readonly string[], value: (gate: string) => number | undefined): Record<string, number> {
  const found = gates.map((gate) => [gate, value(gate)] as const);
  return Object.fromEntries(found.filter((pair): pair is readonly [string, number] => pair[1] !== undefined));
}

/** Undefined outside the array; fewer samples may have pre-activations. */
function entry(tensor: Tensor | undefined, sample: number, column: number, position: number): number | undefined {
  const [samples = 0, columns = 0, units = 0] = tensor?.shape ?? [];
  if (!tensor || sample >= samples || position < 0) return undefined;
  return tensor.values[(sample * columns + column) * units + position];
}
