// How the probe's own data is drawn: numbers as lines, classes as marks, the loss as bars, many features as a heatmap.

import type { Track } from "./activations";
import { shareOf, type Span } from "./figure";
import { extent } from "./matrix";
import { sharedRange } from "./scales";

/** One row above the maps; target and prediction share one, so that they can be compared. */
export type TrackRow =
  | { readonly kind: "map"; readonly tracks: readonly [Track] }
  | { readonly kind: "lines"; readonly tracks: readonly Track[]; readonly range: Span }
  | { readonly kind: "matches"; readonly tracks: readonly [target: Track, prediction: Track]; readonly matches: readonly (boolean | null)[] }
  | { readonly kind: "bars"; readonly tracks: readonly [Track]; readonly range: Span };

export function trackRows(tracks: readonly Track[]): TrackRow[] {
  const named = (...keys: string[]): Track[] => tracks.filter(({ key }) => keys.includes(key));
  const answers = named("target", "prediction");
  return [
    ...named("input").map((track): TrackRow => (isSingle(track) ? linesOf([track]) : { kind: "map", tracks: [track] })),
    ...answerRows(answers),
    ...named("loss").map((track): TrackRow => ({ kind: "bars", tracks: [track], range: fromZero(spanOf([track])) })),
  ];
}

/** What is drawn of a track of one value per timestep: NaN where it was masked. */
export function trackValues({ matrix }: Track): number[] {
  return Array.from({ length: matrix.columns }, (_, column) => (matrix.gaps?.[column] ? NaN : (matrix.values[column] ?? NaN)));
}

/** Bars from zero, with a little room between them; x in columns, y from 0 at the top to 1. */
export function barPath(values: readonly number[], range: Span): string {
  const y = (value: number): string => (1 - shareOf(range, value)).toFixed(4);
  return values.map((value, column) => (Number.isFinite(value) ? `M${column + 0.1} ${y(0)}V${y(value)}H${column + 0.9}V${y(0)}Z` : "")).join("");
}

/** Marks as tall as the row, at some columns; those of a match are low. */
export function markPath(columns: readonly number[], top: number): string {
  return columns.map((column) => `M${column + 0.1} 1V${top}H${column + 0.9}V1Z`).join("");
}

/** Columns that were run and have a value that is not a number. */
export function notFiniteColumns(tracks: readonly Track[]): number[] {
  const columns = tracks.flatMap(({ matrix }) =>
    Array.from({ length: matrix.columns }, (_, column) => column).filter((column) => !matrix.gaps?.[column] && !Number.isFinite(matrix.values[column])),
  );
  return Array.from(new Set(columns)).sort((a, b) => a - b);
}

function answerRows(answers: readonly Track[]): TrackRow[] {
  const [target, prediction] = answers;
  if (!target) return [];
  if (!answers.every(isSingle)) {
    const range = prediction ? sharedRange(target, prediction) : target.range;
    return answers.map((track) => ({ kind: "map", tracks: [{ ...track, range }] }));
  }
  if (prediction && answers.every(isOfClasses)) return [{ kind: "matches", tracks: [target, prediction], matches: matchesOf(target, prediction) }];
  return [linesOf(answers)];
}

function linesOf(tracks: readonly Track[]): TrackRow {
  const [low, high] = spanOf(tracks);
  return { kind: "lines", tracks, range: low < high ? [low, high] : fromZero([low, high]) };
}

function matchesOf(target: Track, prediction: Track): (boolean | null)[] {
  const [wanted, found] = [trackValues(target), trackValues(prediction)];
  return wanted.map((value, column) => (Number.isNaN(value) || Number.isNaN(found[column]) ? null : value === found[column]));
}

function isSingle({ matrix }: Track): boolean {
  return matrix.rows === 1;
}

/** Whole numbers are classes: how far two of them are apart says nothing. */
function isOfClasses(track: Track): boolean {
  return trackValues(track).every((value) => Number.isNaN(value) || Number.isInteger(value));
}

function spanOf(tracks: readonly Track[]): Span {
  const ends = tracks.flatMap(({ matrix }) => extent(matrix) ?? []);
  return ends.length === 0 ? [0, 0] : [Math.min(...ends), Math.max(...ends)];
}

function fromZero([low, high]: Span): Span {
  return low >= 0 && high <= 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
}
