// A distribution over training steps as nested bands of percentiles around the median.

import { ticks } from "d3-array";
import type { Figure, Span, Tick } from "./figure";
import { short } from "./format";
import type { Records } from "./records";

/** From the outermost band inwards. */
export const BANDS = [
  { low: "p1", high: "p99", text: "1–99 %" },
  { low: "p5", high: "p95", text: "5–95 %" },
  { low: "p25", high: "p75", text: "25–75 %" },
] as const;

/**
 * @param positions - the records that are drawn
 * @param places - of all records, 0..1 on an axis of training steps
 * @param colours - of the bands from the outermost inwards, and of the median
 */
export function bandFigure(
  data: Records,
  row: string,
  positions: readonly number[],
  places: readonly number[],
  xTicks: readonly Tick[],
  yRange: Span,
  colours: { readonly bands: readonly string[]; readonly median: string },
): Figure {
  const line = (column: string) => positions.map((position) => finite(data.value(position, row, column)));
  const edges = BANDS.flatMap(({ low, high }) => [high, low]);
  return {
    x: positions.map((position) => places[position] ?? 0),
    xRange: [0, 1],
    xTicks,
    xName: "training step",
    yRange,
    yTicks: ticks(...yRange, 5).map((at) => ({ at, text: short(at) })),
    lines: [
      ...edges.map((key) => ({ key, values: line(key), colour: "transparent", width: 0 })),
      { key: "p50", values: line("p50"), colour: colours.median, width: 1.75 },
    ],
    bands: BANDS.map((_, index) => ({ upper: 2 * index, lower: 2 * index + 1, colour: colours.bands[index] ?? colours.median })),
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
