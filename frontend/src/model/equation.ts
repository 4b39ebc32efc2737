// The equation of a cell with its numbers: gates from pre-activations, the new state from the old one.

import type { Layer } from "../api";
import { applied, recovered } from "./equationFunctions";
import { cellClip, startsFromZero, type UnitValues } from "./equationValues";
import { percent, plural, short } from "./format";
import { gatesOnScreen, words } from "./gates";

/** name = side = side = ... = value */
export interface EquationLine {
  /** The gate or state, for its colour. */
  readonly key: string;
  readonly name: string;
  /** From the words to the numbers. */
  readonly sides: readonly string[];
  readonly value: string;
}

export interface Equation {
  readonly lines: readonly EquationLine[];
  /** What it means, in one sentence; empty where there is nothing to say. */
  readonly reading: string;
  /** What else enters, and what is not known. */
  readonly notes: readonly string[];
}

/** Below this, what is written does not show. */
const ALMOST_NOTHING = 0.05;

/**
 * @param peepholes - the gates that see the cell state too
 */
export function equation(values: UnitValues, peepholes: readonly string[] = []): Equation | null {
  switch (values.layer.cell) {
    case "lstm":
      return lstm(values, peepholes);
    case "gru":
      return gatedMean(values, "update", values.layer.options.update_keeps !== false);
    case "mgu":
      return gatedMean(values, "forget", values.layer.options.forget_keeps === true);
    case "simple_rnn":
      return simple(values);
    default:
      return null;
  }
}

/** c' = f c + i g; h' = o a(c'). */
function lstm(values: UnitValues, peepholes: readonly string[]): Equation {
  const { layer, gates, cellState = NaN, hiddenState, before } = values;
  const { forget = NaN, input = NaN, candidate = NaN, output = NaN } = gates;
  const written = input * candidate;
  const old = before ? before.cellState : initial(values, written, cellState);
  const shown = applied(activation(layer), cellState);
  const projected = layer.recurrent_size !== layer.units;
  const showing = shown === undefined ? NaN : output * shown;
  return {
    lines: [
      ...gateLines(values),
      {
        key: "cell_state",
        name: "cell state",
        sides: ["forget × old cell state + input × candidate", ...sums([forget, old], [input, candidate], "cell state", cellClip(layer))],
        value: short(cellState),
      },
      {
        key: "hidden_state",
        name: projected ? "before the projection" : "hidden state",
        sides: [`output × ${activation(layer)}(cell state)`, ...(shown === undefined ? [] : [product(output, shown)])],
        value: short(projected ? showing : (hiddenState ?? NaN)),
      },
    ],
    reading: reading([
      isShare(forget) && `kept ${percent(forget)} of ${before ? "what it knew" : "the initial state"}`,
      wrote(written),
      isShare(output) && `showed ${percent(output)} of its memory`,
    ]),
    notes: [...lstmNotes(layer, peepholes), ...initialNote(values, old, "cell state"), ...recoveredNote(values)],
  };
}

/** h' = k h + (1 - k) n, where k is the gate or, where the gate does not keep, 1 - gate. */
function gatedMean(values: UnitValues, gate: "update" | "forget", keeps: boolean): Equation {
  const { gates, hiddenState = NaN, before } = values;
  const { candidate = NaN } = gates;
  const open = gates[gate] ?? NaN;
  const keep = keeps ? open : 1 - open;
  const old = before ? before.hiddenState : initial(values, (1 - keep) * candidate, hiddenState);
  const [kept, taken] = keeps ? [gate, `(1 − ${gate})`] : [`(1 − ${gate})`, gate];
  return {
    lines: [
      ...gateLines(values),
      {
        key: "hidden_state",
        name: "hidden state",
        sides: [`${kept} × old hidden state + ${taken} × candidate`, ...sums([keep, old], [1 - keep, candidate], "hidden state")],
        value: short(hiddenState),
      },
    ],
    reading: isShare(keep) ? reading([`kept ${percent(keep)} of its old state`, `took ${percent(1 - keep)} of the candidate`]) : "",
    notes: [...resetNotes(values), ...initialNote(values, old, "hidden state"), ...recoveredNote(values)],
  };
}

/** h' = a(z). */
function simple(values: UnitValues): Equation {
  return {
    lines: gateLines(values).map((line) => ({ ...line, key: "hidden_state", name: "hidden state" })),
    reading: "",
    notes: ["The old hidden state of all units is in the pre-activation: x W + h U + b. Nothing is kept beside it.", ...recoveredNote(values)],
  };
}

/** Each gate from its pre-activation where that is known, else the gate alone. */
function gateLines({ layer, gates, preactivations, dtype }: UnitValues): EquationLine[] {
  return gatesOnScreen(layer.gates).map((gate) => {
    const name = isCandidate(gate) ? activation(layer) : gateFunction(layer);
    const [value, stored] = [gates[gate] ?? NaN, preactivations[gate]];
    const found = stored === undefined ? recovered(name, value, dtype) : short(stored);
    return { key: gate, name: words(gate), sides: found === null ? [] : [`${name}(${found})`], value: short(value) };
  });
}

/** The two products with their numbers, then their sizes; the second is left out where the old state is not known. */
function sums([keep, old]: [number, number | undefined], [write, candidate]: [number, number], state: string, clip?: number): string[] {
  const second = product(write, candidate);
  if (old === undefined) return [`${short(keep)} × initial ${state} + ${second}`];
  const [kept, written] = [keep * old, write * candidate];
  const added = `${short(kept)} ${written < 0 ? "−" : "+"} ${short(Math.abs(written))}`;
  const clipped = clip !== undefined && Math.abs(kept + written) > clip;
  return [`${product(keep, old)} + ${second}`, clipped ? `${added}, clipped to ±${short(clip)}` : added];
}

function product(a: number, b: number): string {
  return `${short(a)} × ${inBrackets(b)}`;
}

function inBrackets(value: number): string {
  return value < 0 ? `(${short(value)})` : short(value);
}

/** The initial state is not stored. Zero if that gives the stored new state, else undefined. */
function initial({ dtype, layer }: UnitValues, written: number, state: number): number | undefined {
  return startsFromZero(layer, written, state, dtype) ? 0 : undefined;
}

function initialNote({ before }: UnitValues, old: number | undefined, state: string): string[] {
  if (before) return [];
  return old === undefined
    ? [`This is the first timestep. The initial ${state} is not stored, and it was not zero: the numbers say so.`]
    : [`This is the first timestep. The initial ${state} is not stored; with zero the numbers agree.`];
}

function lstmNotes(layer: Layer, peepholes: readonly string[]): string[] {
  const { forget_bias: forgetBias, projection_clip: projectionClip } = layer.options;
  const clip = cellClip(layer);
  return [
    ...(typeof forgetBias === "number" && forgetBias !== 0 ? [`The pre-activation of forget has ${short(forgetBias)} added at run time (forget bias).`] : []),
    ...(peepholes.length > 0 ? [`Peepholes: ${peephole(peepholes)}.`] : []),
    ...(clip === undefined ? [] : [`The cell state is clipped to ±${short(clip)}.`]),
    ...(layer.recurrent_size === layer.units
      ? []
      : [
          `The hidden state has ${plural(layer.recurrent_size, "component")}, each a sum of this over all ${plural(layer.units, "unit")} (projection)` +
            (typeof projectionClip === "number" ? `, clipped to ±${short(projectionClip)}.` : "."),
        ]),
  ];
}

/** The output gate sees the new cell state, the others the old one. */
function peephole(gates: readonly string[]): string {
  const old = gates.filter((gate) => gate !== "output");
  return [
    ...(old.length > 0 ? [`the pre-activation of ${old.join(" and ")} also has a weight times the old cell state`] : []),
    ...(gates.includes("output") ? [`${old.length > 0 ? "that of output" : "the pre-activation of output also has"} a weight times the new one`] : []),
  ].join(", ");
}

function resetNotes({ layer, gates }: UnitValues): string[] {
  const gate = layer.cell === "mgu" ? "forget" : "reset";
  const number = short(gates[gate] ?? NaN);
  if (layer.options.reset_after === undefined) return [];
  return layer.options.reset_after
    ? [`In the candidate's pre-activation, what comes from the old hidden state is multiplied by ${gate} (${number}), after the matrix product.`]
    : [`In the candidate's pre-activation, each unit's old hidden state is multiplied by its own ${gate}, before the matrix product.`];
}

function recoveredNote({ layer, preactivations, gates, dtype }: UnitValues): string[] {
  const missing = layer.gates.filter((gate) => preactivations[gate] === undefined);
  if (missing.length === 0) return ["In the brackets of a gate stands its pre-activation."];
  const some = missing.some((gate) => recovered(isCandidate(gate) ? activation(layer) : gateFunction(layer), gates[gate] ?? NaN, dtype) !== null);
  return [
    some
      ? "Pre-activations (in brackets) are not stored here: they are computed back, and left out where the gate is too far open or closed for that."
      : "Pre-activations are not stored here, and cannot be computed back from these gates.",
  ];
}

function reading(parts: readonly (string | false)[]): string {
  const said = parts.filter((part) => part !== false);
  if (said.length === 0) return "";
  const last = said.length > 1 ? ` and ${said.at(-1) ?? ""}` : "";
  const sentence = (said.length > 1 ? said.slice(0, -1) : said).join(", ") + last;
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function wrote(written: number): string | false {
  if (!Number.isFinite(written)) return false;
  return Math.abs(written) < ALMOST_NOTHING ? "wrote almost nothing" : `wrote ${short(written, 2)}`;
}

function isShare(value: number): boolean {
  return value >= 0 && value <= 1;
}

function isCandidate(gate: string): boolean {
  return gate === "candidate" || gate === "hidden";
}

function activation({ options }: Layer): string {
  return typeof options.activation === "string" ? options.activation : "tanh";
}

function gateFunction({ options }: Layer): string {
  return typeof options.recurrent_activation === "string" ? options.recurrent_activation : "sigmoid";
}
