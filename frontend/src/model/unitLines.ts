// One unit over time as lines: its gates on one plot, its candidate and states on another.

import { valueAtUnit, type ShownRow, type ShownSample } from "./activations";
import { shareOf, type Span } from "./figure";
import { roundedUp } from "./range";

export interface UnitLine {
  readonly key: string;
  readonly name: string;
  /** One per column; NaN where it was masked or is not finite. */
  readonly values: readonly number[];
}

export interface UnitPlot {
  readonly lines: readonly UnitLine[];
  readonly range: Span;
}

/** The plots that have lines: gates first. Empty where the unit is not kept. */
export function unitPlots(sample: ShownSample, unit: number): UnitPlot[] {
  const rows = sample.rows.filter((row) => !row.projected && row.indices.includes(unit));
  const groups = [rows.filter(({ scale }) => scale === "open"), rows.filter(({ scale }) => scale !== "open")];
  return groups.filter((group) => group.length > 0).map((group) => plot(group, unit));
}

/** Steps, as wide as the columns of the pictures above; x in columns, y from 0 at the top to 1. */
export function stepPath(values: readonly number[], range: Span): string {
  let path = "";
  values.forEach((value, column) => {
    if (!Number.isFinite(value)) return;
    const y = (1 - shareOf(range, value)).toFixed(4);
    const joined = Number.isFinite(values[column - 1] ?? NaN);
    path += `${joined ? "V" : `M${column} `}${y}H${column + 1}`;
  });
  return path;
}

function plot(rows: readonly ShownRow[], unit: number): UnitPlot {
  const lines = rows.map((row) => ({ key: row.key, name: row.name, values: valuesOf(row, unit) }));
  return { lines, range: rangeOf(rows, lines) };
}

function valuesOf(row: ShownRow, unit: number): number[] {
  const { columns, gaps } = row.matrix;
  return Array.from({ length: columns }, (_, column) => (gaps?.[column] ? NaN : valueAtUnit(row, unit, column)));
}

/** The fixed range where all rows have it; else symmetric around zero with room for every value. */
function rangeOf(rows: readonly ShownRow[], lines: readonly UnitLine[]): Span {
  const [first] = rows;
  if (first && rows.every(({ range }) => range.open === false && range.low === first.range.low)) return [first.range.low, first.range.high];
  const largest = Math.max(0, ...lines.flatMap(({ values }) => values.filter(Number.isFinite).map(Math.abs)));
  const end = roundedUp(largest);
  return [-end, end];
}
