// Which rows of a long list are in sight, so that only they are drawn.

export interface Sight {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/** Rows drawn beyond each edge, so that fast scrolling shows no gap. */
const MARGIN = 4;

/** Of `total` rows of `rowHeight` in a frame of `height` that is scrolled down by `top`. */
export function rowsInSight(total: number, rowHeight: number, top: number, height: number): Sight {
  const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN);
  return { first: Math.min(first, total), end: Math.min(total, Math.ceil((top + height) / rowHeight) + MARGIN) };
}

/** Where to scroll so that a row is in sight: nowhere if it is, else just far enough. */
export function scrollFor(row: number, rowHeight: number, top: number, height: number): number {
  const start = row * rowHeight;
  if (start < top) return start;
  return start + rowHeight > top + height ? start + rowHeight - height : top;
}
