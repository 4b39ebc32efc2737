// The one selection that every panel shows, kept in the URL.

import { batch, effect, signal } from "@preact/signals";
import { readSelection, watchSelection, writeSelection } from "./host";
import type { AxisKind } from "./model/axis";
import type { Span } from "./model/figure";
import { healthNumber, type HealthNumber } from "./model/health";
import type { Selection } from "./model/address";
import { subtractedOf, subtractedText, type Subtracted } from "./model/difference";
import { MAP_KINDS, type MapKind } from "./model/mapKinds";
import { FIRST_ORDER, type Order } from "./model/runsTable";
import type { TrendAxis } from "./model/weightTrends";
import { UNIT_ORDERS, type UnitOrder } from "./model/unitOrder";

export type WeightsMode = "value" | "start" | "previous";
export type DistributionKind = "ridges" | "bands";

/** A unit and a timestep, by true index. Components of a projected hidden state are not units. */
export interface Place {
  readonly unit: number;
  readonly column: number;
  readonly projected: boolean;
}

/** A scalar of the run or of one beside it; null: the loss in our own records. */
export interface ScalarName {
  readonly run: string;
  readonly tag: string;
}

export const ALL_GATES = "all";
export const FIRST_PART = "kernel";
export const FIRST_MEASURE = "loss";
export const FIRST_STATISTIC = "change_since_start";

/** What the user asked for. Empty: what is chosen for them; for the step, null is the last one, also when it moves on. */
export const asked = {
  run: signal(""),
  /** The run that it is compared with; empty: none. */
  other: signal(""),
  /** By what two runs are compared over training. */
  measure: signal(FIRST_MEASURE),
  runsOrder: signal<Order>(FIRST_ORDER),
  /** Findings that are not to be shown: "LG010:lstm_0". */
  dismissed: signal<readonly string[]>([]),
  layer: signal(""),
  call: signal(0),
  sample: signal(0),
  gate: signal(ALL_GATES),
  step: signal<number | null>(null),
  scalar: signal<ScalarName | null>(null),
  axis: signal<AxisKind>("linear"),
  /** The number on the tiles of all layers. */
  health: signal<HealthNumber>("nearly_open"),
  weights: signal<WeightsMode>("value"),
  weightsFolded: signal(false),
  /** The row whose distribution is drawn; empty: that of the chosen gate. */
  row: signal(""),
  distribution: signal<DistributionKind>("ridges"),
  /** The first and the last training step of the distribution; null is all. */
  span: signal<Span | null>(null),
  /** What is drawn of the weights over training steps. */
  statistic: signal(FIRST_STATISTIC),
  trendAxis: signal<TrendAxis>("linear"),
  /** Whose gradient is drawn over the training steps. */
  gradientPart: signal(FIRST_PART),
  pinned: signal<Place | null>(null),
  maps: signal<MapKind>("gates"),
  /** What is subtracted from the sample; null: nothing. */
  minus: signal<Subtracted | null>(null),
  order: signal<UnitOrder>("index"),
  /** The units whose lines stay when another cell is pinned. */
  units: signal<readonly number[]>([]),
};

/** Reads the URL, and keeps it up to date from then on. */
export function bindToUrl(): void {
  restore(readSelection());
  watchSelection(() => restore(readSelection()));
  effect(() => writeSelection(serialised()));
}

function restore(selection: Selection): void {
  batch(() => {
    asked.run.value = selection.run ?? "";
    asked.other.value = selection.other ?? "";
    asked.measure.value = selection.measure ?? FIRST_MEASURE;
    asked.runsOrder.value = runsOrder(selection.runs);
    asked.dismissed.value = (selection.dismissed ?? "").split("|").filter(Boolean);
    asked.layer.value = selection.layer ?? "";
    asked.call.value = wholeNumber(selection.call) ?? 0;
    asked.sample.value = wholeNumber(selection.sample) ?? 0;
    asked.gate.value = selection.gate ?? ALL_GATES;
    asked.step.value = wholeNumber(selection.step);
    asked.scalar.value = selection.scalar ? { run: selection.scalar_run ?? "", tag: selection.scalar } : null;
    asked.axis.value = selection.axis === "log" ? "log" : "linear";
    asked.health.value = healthNumber(selection.health);
    asked.weights.value = selection.weights === "start" || selection.weights === "previous" ? selection.weights : "value";
    asked.weightsFolded.value = selection.weights === "folded";
    asked.row.value = selection.row ?? "";
    asked.distribution.value = selection.distribution === "bands" ? "bands" : "ridges";
    asked.span.value = span(selection.steps);
    asked.statistic.value = selection.statistic ?? FIRST_STATISTIC;
    asked.trendAxis.value = selection.trend_axis === "log" ? "log" : "linear";
    asked.gradientPart.value = selection.gradient ?? FIRST_PART;
    asked.pinned.value = place(selection.cell);
    asked.maps.value = MAP_KINDS.find((kind) => kind === selection.maps) ?? "gates";
    asked.minus.value = subtractedOf(selection.minus);
    asked.order.value = UNIT_ORDERS.find((order) => order === selection.order) ?? "index";
    asked.units.value = wholeNumbers(selection.units);
  });
}

/** Defaults are left out, so that the URL stays short. */
function serialised(): Selection {
  const pinned = asked.pinned.value;
  return {
    run: asked.run.value,
    other: asked.other.value,
    measure: asked.measure.value === FIRST_MEASURE ? "" : asked.measure.value,
    runs: asked.runsOrder.value === FIRST_ORDER ? "" : `${asked.runsOrder.value.descending ? "-" : ""}${asked.runsOrder.value.key}`,
    dismissed: asked.dismissed.value.join("|"),
    layer: asked.layer.value,
    call: asked.call.value ? String(asked.call.value) : "",
    sample: asked.sample.value ? String(asked.sample.value) : "",
    gate: asked.gate.value === ALL_GATES ? "" : asked.gate.value,
    step: asked.step.value === null ? "" : String(asked.step.value),
    scalar: asked.scalar.value?.tag ?? "",
    scalar_run: asked.scalar.value?.run ?? "",
    axis: asked.axis.value === "log" ? "log" : "",
    health: asked.health.value === healthNumber("") ? "" : asked.health.value,
    weights: asked.weightsFolded.value ? "folded" : asked.weights.value === "value" ? "" : asked.weights.value,
    row: asked.row.value,
    distribution: asked.distribution.value === "ridges" ? "" : asked.distribution.value,
    steps: asked.span.value?.join("-") ?? "",
    statistic: asked.statistic.value === FIRST_STATISTIC ? "" : asked.statistic.value,
    trend_axis: asked.trendAxis.value === "log" ? "log" : "",
    gradient: asked.gradientPart.value === FIRST_PART ? "" : asked.gradientPart.value,
    cell: pinned ? `${pinned.projected ? "h" : "u"}${pinned.unit}.${pinned.column}` : "",
    maps: asked.maps.value === "gates" ? "" : asked.maps.value,
    minus: subtractedText(asked.minus.value),
    order: asked.order.value === "index" ? "" : asked.order.value,
    units: asked.units.value.join("."),
  };
}

function place(text: string | undefined): Place | null {
  const match = /^([uh])(\d+)\.(\d+)$/.exec(text ?? "");
  return match ? { projected: match[1] === "h", unit: Number(match[2]), column: Number(match[3]) } : null;
}

/** "memory", or downwards "-memory". */
function runsOrder(text = ""): Order {
  return text === "" ? FIRST_ORDER : { key: text.replace(/^-/, ""), descending: text.startsWith("-") };
}

/** "100-900" */
function span(text: string | undefined): Span | null {
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? "");
  return match ? [Number(match[1]), Number(match[2])] : null;
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

/** "3.17.41", each once. */
function wholeNumbers(text = ""): number[] {
  const numbers = text.split(".").map(wholeNumber);
  return Array.from(new Set(numbers.filter((number) => number !== null)));
}
