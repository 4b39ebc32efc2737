// What a line chart draws, as places on its two axes.

export interface Tick {
  readonly at: number;
  readonly text: string;
}

export interface Line {
  readonly key: string;
  /** One per x. Null is a gap; undefined is a place of another line. */
  readonly values: readonly (number | null | undefined)[];
  readonly colour: string;
  readonly width: number;
  readonly dash?: readonly number[];
  /** Dots alone, without lines between them. */
  readonly dots?: boolean;
}

export type Span = readonly [number, number];

export interface Figure {
  readonly x: readonly number[];
  readonly xRange: Span;
  /** Left out: whole numbers at round distances. */
  readonly xTicks?: readonly Tick[];
  readonly xName: string;
  readonly yRange: Span;
  readonly yTicks: readonly Tick[];
  readonly lines: readonly Line[];
  /** Filled between two of the lines, by their places in the list. */
  readonly bands?: readonly { readonly upper: number; readonly lower: number; readonly colour: string }[];
}

/** Where a value stands in a span, as a share 0..1. */
export function shareOf([low, high]: Span, value: number): number {
  return high > low ? (value - low) / (high - low) : 0.5;
}

/** Values without a neighbour on the same line, which a line alone would not show. */
export function isolated(values: Line["values"]): number[] {
  const known = values.flatMap((value, index) => (value === undefined ? [] : [{ value, index }]));
  return known
    .filter(({ value }, at) => value !== null && (known[at - 1]?.value ?? null) === null && (known[at + 1]?.value ?? null) === null)
    .map(({ index }) => index);
}
