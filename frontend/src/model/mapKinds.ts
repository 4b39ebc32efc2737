// What the maps can show besides gates and states: what was kept against what was written, and pre-activations.

import type { ActivationsHeader, Layer } from "../api";
import type { Payload } from "../safetensors";
import { shownRows, shownSample, type ShownRow, type ShownSample } from "./activations";
import { columnBefore, startsFromZero } from "./equationValues";
import { preactivationRows, type Row } from "./gates";
import { valueAt, type Matrix } from "./matrix";
import { robustMagnitude } from "./range";
import type { Records } from "./records";
import { symmetric } from "./scales";

export type MapKind = "gates" | "written" | "preactivations";

export const MAP_KINDS: readonly MapKind[] = ["gates", "written", "preactivations"];

type Snapshot = Payload<ActivationsHeader>;

/** How a cell's new state is made: state' = keep x state + write. */
interface Update {
  readonly state: "cell_state" | "hidden_state";
  readonly keep: (gates: (gate: string) => number) => number;
  readonly write: (gates: (gate: string) => number) => number;
  readonly meanings: readonly [kept: string, written: string];
}

/** Those that this sample has the numbers for. */
export function possibleKinds({ header, tensors }: Snapshot, sample: number): MapKind[] {
  const { layer } = header;
  const stored = layer.gates.every((gate) => (tensors.get(`preactivation/${gate}`)?.shape[0] ?? 0) > sample);
  // The mean of products over a block of timesteps is not the product of their means.
  const exact = header.block === 1 && updateOf(layer) !== null;
  return ["gates", ...(exact ? (["written"] as const) : []), ...(stored && layer.gates.length > 0 ? (["preactivations"] as const) : [])];
}

export function sampleOfKind(snapshot: Snapshot, sample: number, kind: MapKind, statistics: Records | undefined): ShownSample {
  const plain = shownSample(snapshot, sample, statistics);
  const { layer } = snapshot.header;
  if (kind === "written") return { ...plain, rows: withWritten(plain.rows, layer) };
  if (kind === "gates") return plain;
  const states = plain.rows.filter(({ key }) => !layer.gates.includes(key));
  return { ...plain, rows: [...shownRows(snapshot, preactivationRows(layer), sample, statistics), ...states] };
}

/** Two more rows above the state that is their sum, on one range. */
function withWritten(rows: readonly ShownRow[], layer: Layer): ShownRow[] {
  const update = updateOf(layer);
  const at = rows.findIndex(({ key }) => key === update?.state);
  const state = rows[at];
  if (!update || !state) return [...rows];
  const [kept, written] = keptAndWritten(rows, state, update, layer);
  const range = symmetric(robustMagnitude(Float64Array.of(...kept.values, ...written.values)));
  const row = (key: string, meaning: string, matrix: Matrix): ShownRow => ({ ...state, ...rowOf(key, meaning), matrix, range });
  return [...rows.slice(0, at), row("kept", update.meanings[0], kept), row("written", update.meanings[1], written), ...rows.slice(at)];
}

function rowOf(key: string, meaning: string): Row {
  return { array: key, key, name: key, meaning, scale: "unbounded" };
}

function keptAndWritten(rows: readonly ShownRow[], state: ShownRow, update: Update, layer: Layer): [Matrix, Matrix] {
  const { matrix, indices } = state;
  const [kept, written] = [new Float64Array(matrix.values.length), new Float64Array(matrix.values.length)];
  const gaps = matrix.gaps ?? Array.from({ length: matrix.columns }, () => false);
  for (let column = 0; column < matrix.columns; column += 1) {
    const before = columnBefore(gaps, column, layer.direction);
    indices.forEach((unit, row) => {
      const at = row * matrix.columns + column;
      const gate = (key: string): number => gateAt(rows, key, unit, column);
      const write = update.write(gate);
      written[at] = write;
      kept[at] = before === undefined ? keptAtFirst(layer, write, valueAt(matrix, row, column), matrix.dtype) : update.keep(gate) * valueAt(matrix, row, before);
    });
  }
  return [
    { ...matrix, values: kept },
    { ...matrix, values: written },
  ];
}

/** The initial state is not stored: nothing where zero agrees, else what is missing; unknown where that may be clipped. */
function keptAtFirst(layer: Layer, written: number, state: number, dtype: string): number {
  if (startsFromZero(layer, written, state, dtype)) return 0;
  return layer.options.cell_clip === undefined ? state - written : NaN;
}

function gateAt(rows: readonly ShownRow[], key: string, unit: number, column: number): number {
  const row = rows.find((one) => one.key === key);
  return row ? valueAt(row.matrix, row.indices.indexOf(unit), column) : NaN;
}

function updateOf({ cell, options }: Layer): Update | null {
  if (cell === "lstm") {
    return {
      state: "cell_state",
      keep: (gate) => gate("forget"),
      write: (gate) => gate("input") * gate("candidate"),
      meanings: ["forget × old cell state", "input × candidate"],
    };
  }
  if (cell !== "gru" && cell !== "mgu") return null;
  const name = cell === "gru" ? "update" : "forget";
  const keeps = cell === "gru" ? options.update_keeps !== false : options.forget_keeps === true;
  const keep = (gate: (key: string) => number): number => (keeps ? gate(name) : 1 - gate(name));
  return {
    state: "hidden_state",
    keep,
    write: (gate) => (1 - keep(gate)) * gate("candidate"),
    meanings: [`${keeps ? name : `(1 − ${name})`} × old hidden state`, `${keeps ? `(1 − ${name})` : name} × candidate`],
  };
}
