// The words and numbers of one place in the pictures of the activations.

import { columnName, valueAtUnit, type ShownRow, type ShownSample } from "../model/activations";
import { otherLabel, valuesOf, type Difference } from "../model/difference";
import { exact, short } from "../model/format";
import type { Place } from "../selection";
import type { TooltipContent } from "./Tooltip";

const DIFFERENCE_DIGITS = 4;

/** All gates and states of the unit at that timestep; `key` is the row under the pointer. */
export function contentAt(sample: ShownSample, difference: Difference | undefined, place: Place, key: string): TooltipContent {
  const what = place.projected ? "hidden state" : "unit";
  const isMasked = sample.rows[0]?.matrix.gaps?.[place.column];
  const other = difference && otherLabel(difference, place.column);
  const lines = sample.rows
    .filter((row) => row.projected === place.projected)
    .map((row) => ({ key: row.key, name: row.name, current: row.key === key, ...valueOf(row, difference, place) }));
  return {
    title: `${what} ${place.unit} · ${columnName(sample, place.column)}`,
    lines: isMasked ? [] : lines,
    more: [...(other ? [other] : []), ...(isMasked ? [maskedSentence(difference)] : trackLines(sample, place.column))],
  };
}

/** The exact value; of a difference a few digits, and the two exact values that it was made of. */
export function valueOf(row: ShownRow, difference: Difference | undefined, { unit, column }: Place): { value: string; made?: string } {
  const value = valueAtUnit(row, unit, column);
  if (!difference) return { value: exact(value, row.matrix.dtype) };
  const stored = (one: ShownSample): string => one.rows.find(({ key }) => key === row.key)?.matrix.dtype ?? "F32";
  const [from, subtracted] = valuesOf(difference, row.key, unit, column);
  const made = `${exact(from, stored(difference.from))} − ${inBrackets(exact(subtracted, stored(difference.subtracted)))}`;
  return { value: short(value, DIFFERENCE_DIGITS), made };
}

function inBrackets(text: string): string {
  return text.startsWith("−") ? `(${text})` : text;
}

function maskedSentence(difference: Difference | undefined): string {
  return difference ? "This timestep was masked in one of the two: there is no difference." : "This timestep was masked: the layer skipped it.";
}

/** Tracks of one value per timestep. */
function trackLines(sample: ShownSample, column: number): string[] {
  return sample.tracks
    .filter(({ matrix }) => matrix.rows === 1)
    .map(({ key, matrix }) => `${key} ${exact(matrix.values[column] ?? NaN, matrix.dtype)}`);
}
