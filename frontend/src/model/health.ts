// The tiles of all layers: one number for each gate, at each training step that has one.

import { max, sum } from "d3-array";
import type { Column, KindHealth, Layer, LayerHealth } from "../api";
import { percent, plural, short } from "./format";
import { gatesOnScreen, isSigned, words } from "./gates";
import { positionAt } from "./steps";

export type HealthNumber = "nearly_open" | "nearly_closed" | "memory" | "change" | "gradient";

/** A number over training steps: of a gate, or of the layer as a whole. */
export interface Tile {
  readonly layer: Layer;
  /** The gate that a click chooses; null where the number is not a gate's. */
  readonly gate: string | null;
  readonly name: string;
  readonly measure: Measure;
  readonly steps: readonly number[];
  readonly values: readonly number[];
  /** Steps at which the number is a lower bound. */
  readonly isBound: readonly boolean[];
  /** Entries that are NaN or infinite, and not part of the number. */
  readonly notFinite: readonly number[];
}

export interface HealthRow {
  readonly layer: Layer;
  readonly tiles: readonly Tile[];
}

/** What a tile shows at one training step. */
export interface TileValue {
  readonly text: string;
  /** The same as people say it. */
  readonly sentence: string;
  /** How full the disc is, 0..1; NaN where there is no finite number. */
  readonly level: number;
  readonly isFinite: boolean;
  /** The step of the number: the last one at or before the chosen step. */
  readonly step: number | null;
}

export type Measure = "nearly_open" | "nearly_closed" | "memory" | "change" | "gradient" | "reach";

const LEAST_DECADES = 3;
/** The top of shares, and of a change as large as the weights themselves. */
const ALL = 1;
/** A bias is left out: one that starts at zero has changed by all of its size after the first update. */
const KERNELS = ["kernel", "recurrent_kernel"];
const KEEPING_GATES = ["forget", "update"];
const NOTHING = "no number at this step";

export const HEALTH_CHOICES: readonly { readonly value: HealthNumber; readonly text: string; readonly unit: string }[] = [
  { value: "nearly_open", text: "nearly open (above 0.9)", unit: "% of all units and timesteps" },
  { value: "nearly_closed", text: "nearly closed (below 0.1)", unit: "% of all units and timesteps" },
  { value: "memory", text: "memory", unit: "timesteps until the median unit has forgotten half" },
  { value: "change", text: "change since start", unit: "of the kernel or the recurrent kernel, whichever changed more, in % of its size" },
  { value: "gradient", text: "gradient", unit: "norm at the pre-activations, and how far the error reaches back" },
];

/** The choice of the URL; nearly open, where it is none of ours. */
export function healthNumber(text: string | undefined): HealthNumber {
  return HEALTH_CHOICES.find(({ value }) => value === text)?.value ?? "nearly_open";
}

/** One row per layer in the order of `ids`; a layer of which nothing was told yet has none. */
export function healthRows(layers: readonly LayerHealth[], ids: readonly string[], number: HealthNumber): HealthRow[] {
  const byId = new Map(layers.map((entry) => [entry.layer.id, entry]));
  return ids.flatMap((id) => {
    const entry = byId.get(id);
    return entry ? [{ layer: entry.layer, tiles: tilesOf(entry, number) }] : [];
  });
}

/** The number at the last step at or before `step`. */
export function tileValue(tile: Tile, step: number, top: number): TileValue {
  const at = positionAt(tile.steps, step);
  const own = tile.steps[at];
  if (own === undefined || own > step) return { text: "–", sentence: NOTHING, level: NaN, isFinite: true, step: null };
  const [value, special] = [tile.values[at] ?? NaN, tile.notFinite[at] ?? 0];
  const bound = tile.isBound[at] ?? false;
  if (special > 0) {
    const sentence = `${plural(special, "entry", "entries")} not finite (NaN or infinite)`;
    return { text: Number.isFinite(value) ? valueText(tile.measure, value, bound) : "NaN", sentence, level: NaN, isFinite: false, step: own };
  }
  if (Number.isNaN(value)) return { text: "–", sentence: NOTHING, level: NaN, isFinite: true, step: own };
  return {
    text: valueText(tile.measure, value, bound),
    sentence: sentenceOf(tile, value, bound),
    level: level(tile.measure, value, top),
    isFinite: Number.isFinite(value),
    step: own,
  };
}

/** Where the scale of all tiles of one measure ends: its largest finite number at any step. */
export function topOf(rows: readonly HealthRow[], measure: Measure): number {
  if (measure === "nearly_open" || measure === "nearly_closed" || measure === "change") return ALL;
  let top = 0;
  for (const { tiles } of rows) {
    for (const tile of tiles) {
      if (tile.measure !== measure) continue;
      for (const value of tile.values) if (Number.isFinite(value) && value > top) top = value;
    }
  }
  return top;
}

/** The height 0..1 of a value on the scale that all tiles of its measure share; NaN has none. */
export function level(measure: Measure, value: number, top: number): number {
  if (Number.isNaN(value)) return NaN;
  if (value <= 0) return 0;
  if (measure !== "gradient") return top > 0 ? Math.min(1, value / top) : 0;
  // Three decades below the largest gradient there is little left to train with.
  return Math.max(0, Math.min(1, 1 + Math.log10(value / top) / LEAST_DECADES));
}

function tilesOf({ layer, kinds }: LayerHealth, number: HealthNumber): Tile[] {
  if (number === "memory") return layerTile(layer, "memory", kinds.activations, kinds.activations?.memory, keepingGate(layer));
  const gates = gatesOnScreen(layer.gates);
  if (number === "change") return gates.flatMap((gate) => changeTile(layer, gate, kinds.weights));
  if (number === "gradient") {
    return [
      ...gates.flatMap((gate) => gateTile(layer, gate, number, kinds.gradients, `preactivation/${gate}`, "norm")),
      ...layerTile(layer, "reach", kinds.gradients, kinds.gradients?.reach, null),
    ];
  }
  return gates.flatMap((gate) => gateTile(layer, gate, number, kinds.activations, `activation/${gate}`, number));
}

function gateTile(layer: Layer, gate: string, measure: Measure, kind: KindHealth | undefined, row: string, column: string): Tile[] {
  const columns = kind?.rows[row];
  const values = columns?.[column];
  if (!kind || !values) return [];
  const notFinite = numbers(columns.not_finite);
  return [{ layer, gate, name: words(gate), measure, steps: kind.steps, values: numbers(values), isBound: [], notFinite }];
}

/** Of the kernel that changed more: a gate whose other kernel stands still does learn. */
function changeTile(layer: Layer, gate: string, kind: KindHealth | undefined): Tile[] {
  const tiles = KERNELS.flatMap((part) => gateTile(layer, gate, "change", kind, `${part}/${gate}`, "change_since_start"));
  const [first] = tiles;
  if (!first) return [];
  const values = first.steps.map((_, at) => max(tiles, (tile) => tile.values[at]) ?? NaN);
  return [{ ...first, values, notFinite: first.steps.map((_, at) => sum(tiles, (tile) => tile.notFinite[at] ?? 0)) }];
}

function layerTile(
  layer: Layer,
  measure: "memory" | "reach",
  kind: KindHealth | undefined,
  column: Column | undefined,
  gate: string | null,
): Tile[] {
  const values = numbers(column);
  // A simple RNN has no gate that keeps, and a loss may not depend on a layer.
  if (!kind || values.every(Number.isNaN)) return [];
  const limits = numbers(measure === "memory" ? kind.memory_censored : kind.reach_limit);
  const isBound = values.map((value, at) => (measure === "memory" ? limits[at] === 1 : value > 0 && value === limits[at]));
  return [{ layer, gate, name: measure, measure, steps: kind.steps, values, isBound, notFinite: [] }];
}

function keepingGate({ gates }: Layer): string | null {
  return gates.find((gate) => KEEPING_GATES.includes(gate)) ?? null;
}

function valueText(measure: Measure, value: number, isBound: boolean): string {
  if (measure === "gradient") return short(value, 2);
  if (measure === "memory" || measure === "reach") return `${isBound ? "≥ " : ""}${timesteps(value)}`;
  return percent(value);
}

function sentenceOf({ measure, gate }: Tile, value: number, isBound: boolean): string {
  const text = valueText(measure, value, isBound);
  const span = `${isBound ? "at least " : ""}${timesteps(value)}`;
  const signed = gate !== null && isSigned(gate);
  switch (measure) {
    case "nearly_open":
      return `${text} of its values are ${signed ? "beyond ±0.9" : "nearly open (above 0.9)"}`;
    case "nearly_closed":
      return `${text} of its values are ${signed ? "within ±0.1" : "nearly closed (below 0.1)"}`;
    case "memory":
      return `the median unit keeps half of its state for ${span}`;
    case "reach":
      return `the error reaches ${span} back`;
    case "change":
      return `its kernel or its recurrent kernel has changed by ${text} of its size since the start`;
    case "gradient":
      return `the gradient at its pre-activations has the norm ${text}`;
  }
}

function timesteps(value: number): string {
  return `${short(value)} timestep${value === 1 ? "" : "s"}`;
}

function numbers(column: Column | undefined): number[] {
  return (column ?? []).map(Number);
}
