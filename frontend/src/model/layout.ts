// How the heatmaps share the room of the frame.

const LEAST_COLUMN_WIDTH = 280;
const COMFORTABLE_CELL_WIDTH = 16;
const LARGEST_CELL_HEIGHT = 26;
const LARGEST_CELL_WIDTH = 64;
const LARGEST_WEIGHT_WIDTH = 28;
const LEAST_WEIGHTS_WIDTH = 240;
const LEAST_HEIGHT = 48;

/** Heatmaps side by side: several where the sequence is short, so that cells do not become stripes. */
export function heatmapsPerLine(width: number, timesteps: number, rows: number): number {
  const fitting = Math.max(1, Math.floor(width / Math.max(LEAST_COLUMN_WIDTH, timesteps * COMFORTABLE_CELL_WIDTH)));
  const lines = Math.ceil(rows / Math.min(fitting, Math.max(rows, 1)));
  return Math.max(1, Math.ceil(rows / Math.max(lines, 1)));
}

/** A heatmap's height: its part of the frame, at least a pixel per unit, and no cell taller than a line of text. */
export function heatmapHeight(available: number, units: number): number {
  const wanted = Math.max(LEAST_HEIGHT, units, Math.floor(available));
  return Math.min(wanted, Math.max(24, units * LARGEST_CELL_HEIGHT));
}

/** No wider than this: a few large cells would say no more. */
export function widestHeatmap(timesteps: number): number {
  return Math.max(LEAST_COLUMN_WIDTH, timesteps * LARGEST_CELL_WIDTH);
}

/** The width of one gate's weights, of `available` pixels; below them stands a line of text. */
export function weightsWidth(available: number, units: number): number {
  return Math.min(available, Math.max(LEAST_WEIGHTS_WIDTH, units * LARGEST_WEIGHT_WIDTH));
}

/** A weight matrix's height: square cells where they fit between the limits. */
export function weightHeight(rows: number, columns: number, width: number, tallest: number): number {
  if (rows === 1) return 14;
  const square = (width / Math.max(columns, 1)) * rows;
  return Math.round(Math.max(rows, 14, Math.min(square, tallest, rows * LARGEST_CELL_HEIGHT)));
}
