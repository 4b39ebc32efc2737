// Two runs compared: one measure of the same layer over the training steps of both.

import { extent, ticks } from "d3-array";
import type { Health, KindHealth } from "../api";
import { stepAxis, stepTicks, type AxisKind } from "./axis";
import type { Figure, Span } from "./figure";
import { short } from "./format";
import { unionOfSteps } from "./steps";

export type Measure = "loss" | "memory" | "reach" | "nearly_open" | "nearly_closed" | "change" | "gradient";

export const MEASURES: Readonly<Record<Measure, string>> = {
  loss: "loss",
  memory: "memory (timesteps until half is forgotten)",
  reach: "reach of the error (timesteps)",
  nearly_open: "nearly open (> 0.9), share of timesteps",
  nearly_closed: "nearly closed (< 0.1), share of timesteps",
  change: "change of the recurrent kernel since start",
  gradient: "gradient norm of the pre-activation",
};

export interface MeasureSeries {
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

const NOTHING: MeasureSeries = { steps: [], values: [] };
const MARGIN = 0.06;

/** Of which gate a measure is; the loss, the memory and the reach are of no gate. */
export function isOfGate(measure: Measure): boolean {
  return !["loss", "memory", "reach"].includes(measure);
}

export function measureOf(health: Health, layer: string, measure: Measure, gate: string): MeasureSeries {
  if (measure === "loss") return { steps: health.loss.map(([step]) => step), values: health.loss.map(([, , value]) => value) };
  const kinds = health.layers.find((entry) => entry.layer.id === layer)?.kinds ?? {};
  const column = (kind: KindHealth | undefined, values: readonly (number | string)[] | undefined): MeasureSeries =>
    kind && values ? { steps: kind.steps, values: values.map(Number) } : NOTHING;
  switch (measure) {
    case "memory":
      return column(kinds.activations, kinds.activations?.memory);
    case "reach":
      return column(kinds.gradients, kinds.gradients?.reach);
    case "change":
      return column(kinds.weights, kinds.weights?.rows[`recurrent_kernel/${gate}`]?.change_since_start);
    case "gradient":
      return column(kinds.gradients, kinds.gradients?.rows[`preactivation/${gate}`]?.norm);
    default:
      return column(kinds.activations, kinds.activations?.rows[`activation/${gate}`]?.[measure]);
  }
}

/** The measures that at least one of the runs has a number of. */
export function possibleMeasures(healths: readonly Health[], layer: string, gate: string): Measure[] {
  const all = Object.keys(MEASURES) as Measure[];
  return all.filter((measure) => healths.some((health) => measureOf(health, layer, measure, gate).values.some(Number.isFinite)));
}

export interface ComparedLine {
  readonly key: string;
  readonly series: MeasureSeries;
  readonly colour: string;
  readonly dash?: readonly number[];
}

export interface Compared {
  readonly figure: Figure;
  readonly steps: readonly number[];
  /** From a training step to its place 0..1. */
  readonly place: (step: number) => number;
}

/** The lines of all runs on one axis of training steps, as long as the longest run. */
export function comparedFigure(lines: readonly ComparedLine[], axis: AxisKind): Compared {
  const steps = unionOfSteps(...lines.map(({ series }) => series.steps));
  const [first, last] = [steps[0] ?? 0, steps.at(-1) ?? 0];
  const place = stepAxis(axis, first, last);
  const yRange = rangeOf(lines.flatMap(({ series }) => series.values));
  return {
    steps,
    place,
    figure: {
      x: steps.map(place),
      xRange: [0, 1],
      xTicks: stepTicks(axis, first, last),
      xName: "training step",
      yRange,
      yTicks: ticks(...yRange, 4).map((at) => ({ at, text: short(at) })),
      lines: lines.map(({ key, series, colour, dash }) => {
        const known = new Map(series.steps.map((step, index) => [step, series.values[index] ?? NaN]));
        const values = steps.map((step) => {
          const value = known.get(step);
          return value === undefined ? undefined : Number.isFinite(value) ? value : null;
        });
        return { key, values, colour, width: 1.75, ...(dash && { dash }) };
      }),
    },
  };
}

/** The value at a step, or the last one before it. */
export function valueBefore({ steps, values }: MeasureSeries, step: number): number {
  const index = steps.findLastIndex((one) => one <= step);
  return values[index] ?? NaN;
}

function rangeOf(values: readonly number[]): Span {
  const [low = 0, high = 1] = extent(values.filter(Number.isFinite));
  const bottom = Math.min(0, low);
  const margin = MARGIN * (high - bottom) || Math.abs(high) || 1;
  return [bottom < 0 ? bottom - margin : 0, high + margin];
}
