// The tiny line on a tile: its number over the training steps, as the path of an SVG of 100 x 100.

import { level, type Tile } from "./health";

const MOST_POINTS = 48;

/** Only finite numbers have a place; what lies between two of them is a gap where one is missing. */
export function trendPath({ steps, values, measure }: Tile, place: (step: number) => number, top: number): string {
  let path = "";
  let isOpen = false;
  for (const at of kept(steps, place)) {
    const height = level(measure, values[at] ?? NaN, top);
    if (!Number.isFinite(height)) {
      isOpen = false;
      continue;
    }
    path += `${isOpen ? "L" : "M"}${(100 * place(steps[at] ?? 0)).toFixed(1)} ${(100 - 100 * height).toFixed(1)}`;
    // A single point between gaps is drawn as a dot.
    if (!isOpen) path += "h0";
    isOpen = true;
  }
  return path;
}

/** The positions of one step in each of so many equal places, and of the last one. */
function kept(steps: readonly number[], place: (step: number) => number): number[] {
  if (steps.length <= MOST_POINTS) return steps.map((_, at) => at);
  const chosen = new Map<number, number>();
  steps.forEach((step, at) => {
    const slot = Math.floor(MOST_POINTS * place(step));
    if (!chosen.has(slot)) chosen.set(slot, at);
  });
  return Array.from(new Set([...chosen.values(), steps.length - 1])).sort((a, b) => a - b);
}
