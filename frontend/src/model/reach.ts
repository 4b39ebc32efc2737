// How far back the error reaches: in a sentence, and as one line of what is left by lag for each training step.

import type { GradientsHeader, Reach } from "../api";
import type { Payload } from "../safetensors";
import { percent, plural, short } from "./format";
import type { Figure, Line } from "./figure";
import { isNotFinite, logAxis, logLines, powerOfTenOfOne, type LogAxis } from "./logAxis";

type Snapshot = Payload<GradientsHeader>;

export interface ReachCurve {
  readonly step: number;
  readonly lags: readonly number[];
  /** The share of the gradient that is left so many timesteps back. */
  readonly ratios: readonly number[];
  readonly reach: Reach | null;
}

export interface Reading {
  readonly sentence: string;
  /** What it means, or how it goes on; empty where there is no more to say. */
  readonly detail: string;
}

/** Below a millionth of it, nobody asks how much is left. */
const FLOOR = -6;
const LEAST_DECADES = [-3, 0] as const;
const GROWN = 10;

export function reachCurve({ header, tensors }: Snapshot): ReachCurve {
  const lags = Array.from(tensors.get("reach/lags")?.values ?? []);
  const ratios = Array.from(tensors.get("reach/ratios")?.values ?? []);
  return { step: header.step, lags, ratios, reach: header.reach };
}

export function reachReading(snapshot: Snapshot): Reading {
  const curve = reachCurve(snapshot);
  const { reach, lags, ratios } = curve;
  if (!reach) return nothingArrives(snapshot);
  const exploded = ratios.findIndex((ratio) => !Number.isFinite(ratio));
  if (exploded === 0) return { sentence: "The gradient within this layer is not a finite number.", detail: "Its weights or its states are not finite." };
  if (exploded > 0) return explosion(lags[exploded] ?? exploded, ratios[exploded] ?? NaN);
  if (reach.limit === 0) {
    return { sentence: "The error arrives at the first timestep alone: there is nothing further back.", detail: "" };
  }
  if (reach.timesteps < reach.limit) return fading(curve, reach);
  return {
    sentence: `The error reaches as far back as the sequence goes (${plural(reach.limit, "timestep")}) and may go further.`,
    detail: growth(curve) || `${percent(ratios.at(-1) ?? NaN)} of it is left there.`,
  };
}

/** The lines of all curves, the last one in front. */
export function reachFigure(curves: readonly ReachCurve[], colours: readonly string[], notFinite: string): Figure {
  const x = Array.from(new Set(curves.flatMap(({ lags }) => lags))).sort((a, b) => a - b);
  const axis = reachAxis(curves);
  const lines = curves.flatMap((curve, index): Line[] => {
    const line = { key: String(curve.step), colour: colours[index] ?? "", width: index === curves.length - 1 ? 2.25 : 1.25 };
    return logLines(axis, curve.ratios, line, notFinite).map(({ values, ...rest }) => ({ ...rest, values: aligned(curve.lags, values, x) }));
  });
  return {
    x,
    xRange: [0, Math.max(1, x.at(-1) ?? 1)],
    xName: "timesteps back",
    yRange: axis.range,
    yTicks: axis.ticks,
    lines,
  };
}

/** Where the threshold's name has room: above it at the right where all has faded by then, else below it at the left. */
export function thresholdSide(curves: readonly ReachCurve[], threshold: number): "right" | "left" {
  const furthest = Math.max(...curves.flatMap(({ lags }) => lags.at(-1) ?? 0));
  const atTheRight = curves.flatMap(({ lags, ratios }) => ratios.filter((_, index) => (lags[index] ?? 0) > 0.75 * furthest));
  return atTheRight.every((ratio) => ratio < threshold) ? "right" : "left";
}

/** The place of a curve's last value on the axis, for its name. */
export function endOf({ ratios }: ReachCurve, axis: LogAxis): number | null {
  const last = ratios.at(-1);
  return last === undefined ? null : (axis.place(last) ?? axis.special(last));
}

export function reachAxis(curves: readonly ReachCurve[]): LogAxis {
  return logAxis(
    curves.flatMap(({ ratios }) => ratios),
    { least: LEAST_DECADES, floor: FLOOR, write: powerOfTenOfOne },
  );
}

/** What is left at a lag, or at the nearest one that was kept. */
export function ratioAt({ lags, ratios }: ReachCurve, lag: number): { lag: number; ratio: number } | null {
  const last = lags.at(-1);
  if (last === undefined || lag > last) return null;
  const at = lags.reduce((best, own, index) => (Math.abs(own - lag) < Math.abs((lags[best] ?? 0) - lag) ? index : best), 0);
  return { lag: lags[at] ?? 0, ratio: ratios[at] ?? NaN };
}

/** What is left, as people read it: 12.5 %, or × 340 where it has grown. */
export function leftText(ratio: number): string {
  return ratio < GROWN ? `${short(100 * ratio)} %` : Number.isFinite(ratio) ? `× ${short(ratio)}` : short(ratio);
}

function fading({ lags, ratios }: ReachCurve, { timesteps, threshold }: Reach): Reading {
  const after = lags.findIndex((lag) => lag > timesteps);
  const sentence =
    timesteps === 0
      ? "The error does not reach back: one timestep earlier almost nothing of it is left."
      : `The error reaches about ${plural(timesteps, "timestep")} back.`;
  const left = `${plural(lags[after] ?? timesteps + 1, "timestep")} back ${percent(ratios[after] ?? NaN)} of it is left, less than ${percent(threshold)}.`;
  return { sentence, detail: `${left} What lies further back can hardly change these weights.` };
}

function explosion(lag: number, ratio: number): Reading {
  const what = Number.isNaN(ratio) ? "not a number" : "infinite";
  return {
    sentence: `The gradient is ${what} from ${plural(lag, "timestep")} back on: it has exploded.`,
    detail: "The weights' gradient is a sum over all timesteps, so it is then no finite number either.",
  };
}

function growth({ lags, ratios }: ReachCurve): string {
  const largest = Math.max(...ratios);
  if (largest < GROWN) return "";
  const lag = lags[ratios.indexOf(largest)] ?? 0;
  return `On its way it grows: ${plural(lag, "timestep")} back it is ${short(largest, 2)} times as large.`;
}

function nothingArrives({ tensors }: Snapshot): Reading {
  const mask = tensors.get("mask")?.values ?? [];
  const arriving = Array.from(tensors.get("norm/output")?.values ?? []);
  if (arriving.some((norm, index) => mask[index] !== 0 && isNotFinite(norm))) {
    return {
      sentence: "The gradient that arrives at this layer's outputs is not a finite number.",
      detail: "It has exploded, or become NaN, between the loss and this layer.",
    };
  }
  return { sentence: "No gradient arrives at this layer's outputs.", detail: "The loss of the probe does not depend on them." };
}

function aligned(lags: readonly number[], values: Line["values"], x: readonly number[]): Line["values"] {
  const byLag = new Map(lags.map((lag, index) => [lag, values[index]]));
  return x.map((lag) => byLag.get(lag));
}
