// The numbers of a whole picture, for those who read and do not look: over all its cells that are not masked.

import type { ShownRow } from "./activations";

export interface RowStatistics {
  readonly mean: number;
  readonly std: number;
  /** Shares of the cells, 0..1; null for a row without bounds, which is never open or closed. */
  readonly nearlyClosed: number | null;
  readonly nearlyOpen: number | null;
}

const CLOSED = 0.1;
const OPEN = 0.9;

/** NaN and Inf are left out, as everywhere; the caption of the picture counts them. */
export function rowStatistics({ matrix, scale }: ShownRow): RowStatistics {
  const values = Array.from(matrix.values).filter((value, at) => Number.isFinite(value) && !matrix.gaps?.[at % matrix.columns]);
  const meanOf = (of: (value: number) => number): number => values.reduce((sum, value) => sum + of(value), 0) / values.length;
  const mean = meanOf((value) => value);
  const share = (is: (size: number) => boolean): number | null => (scale === "unbounded" ? null : meanOf((value) => Number(is(Math.abs(value)))));
  return {
    mean,
    std: Math.sqrt(meanOf((value) => (value - mean) ** 2)),
    nearlyClosed: share((size) => size < CLOSED),
    nearlyOpen: share((size) => size > OPEN),
  };
}
