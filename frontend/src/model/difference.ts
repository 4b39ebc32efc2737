// One sample of the activations minus another one, or minus the same one at another training step.

import { columnName, valueAtUnit, type ShownRow, type ShownSample } from "./activations";
import { plural } from "./format";
import { difference, valueAt, type Matrix } from "./matrix";
import { robustMagnitude } from "./range";
import { symmetric, type Range } from "./scales";

/** What the shown sample is compared with: another sample of its picture, or itself at another training step. */
export interface Subtracted {
  readonly kind: "sample" | "step";
  readonly number: number;
}

export interface Difference {
  /** Differences where both have a unit and a timestep, on ranges around zero. */
  readonly sample: ShownSample;
  readonly from: ShownSample;
  readonly subtracted: ShownSample;
  /** "training step 900 − training step 100" */
  readonly name: string;
  /** What only one of the two has, in words. */
  readonly facts: readonly string[];
}

/** "step.100", as in the URL. */
export function subtractedText(one: Subtracted | null): string {
  return one ? `${one.kind}.${one.number}` : "";
}

export function subtractedOf(text = ""): Subtracted | null {
  const match = /^(sample|step)\.(\d{1,16})$/.exec(text);
  return match ? { kind: match[1] === "sample" ? "sample" : "step", number: Number(match[2]) } : null;
}

/** Units are compared by their true indices, timesteps by their places. A sentence where nothing can be compared. */
export function differenceOf(from: ShownSample, subtracted: ShownSample, name: string): Difference | string {
  if (from.block !== subtracted.block) {
    return `One column stands for ${plural(from.block, "timestep")} here and for ${plural(subtracted.block, "timestep")} there: they cannot be subtracted.`;
  }
  const columns = Math.min(from.columns, subtracted.columns);
  const pairs = from.rows.flatMap((row) => {
    const other = subtracted.rows.find(({ key, projected }) => key === row.key && projected === row.projected);
    return other ? [rowDifference(row, other, columns, name)] : [];
  });
  if (pairs.every(({ indices }) => indices.length === 0)) return "The two pictures have no unit in common: each keeps others.";
  const timesteps = Math.min(from.timesteps, subtracted.timesteps);
  const tracks = from.tracks.map((track) => ({ ...track, matrix: firstColumns(track.matrix, columns) }));
  const sample = { ...from, rows: onSharedRanges(pairs), tracks, columns, timesteps };
  return { sample, from, subtracted, name, facts: [...unitFacts(from, sample), ...timeFacts(from, subtracted)] };
}

/** How the other sample calls a column that the shown one calls otherwise. */
export function otherLabel({ sample, subtracted }: Difference, column: number): string | null {
  const isSame = (subtracted.labels?.[column] ?? "") === (sample.labels?.[column] ?? "");
  return isSame || !subtracted.labels ? null : `minus ${columnName(subtracted, column)}`;
}

/** Both values that a difference was made of. */
export function valuesOf({ from, subtracted }: Difference, key: string, unit: number, column: number): [number, number] {
  const value = ({ rows }: ShownSample): number => {
    const row = rows.find((one) => one.key === key);
    return row ? valueAtUnit(row, unit, column) : NaN;
  };
  return [value(from), value(subtracted)];
}

function rowDifference(row: ShownRow, other: ShownRow, columns: number, name: string): ShownRow {
  const indices = row.indices.filter((unit) => other.indices.includes(unit));
  const gaps = Array.from({ length: columns }, (_, column) => (row.matrix.gaps?.[column] ?? false) || (other.matrix.gaps?.[column] ?? false));
  const [after, before] = [row, other].map((one) => cut(one, indices, columns, gaps)) as [Matrix, Matrix];
  return { ...row, matrix: difference(after, before), indices, meaning: name };
}

/** The rows of those units; masked columns hold nothing that a range could be taken of. */
function cut({ matrix, indices }: ShownRow, units: readonly number[], columns: number, gaps: readonly boolean[]): Matrix {
  const places = units.map((unit) => indices.indexOf(unit));
  const values = Float64Array.from({ length: units.length * columns }, (_, index) => {
    const column = index % columns;
    return gaps[column] ? NaN : valueAt(matrix, places[Math.floor(index / columns)] ?? -1, column);
  });
  return { ...matrix, rows: units.length, columns, values, gaps };
}

/** One range for what is bounded, and one for what is not, beside which the gates would be colourless. */
function onSharedRanges(rows: readonly ShownRow[]): ShownRow[] {
  const isBounded = ({ range }: ShownRow): boolean => range.open === false;
  const rangeOf = (some: readonly ShownRow[]): Range => symmetric(robustMagnitude(Float64Array.from(some.flatMap(({ matrix }) => Array.from(matrix.values)))));
  const [bounded, others] = [rangeOf(rows.filter(isBounded)), rangeOf(rows.filter((row) => !isBounded(row)))];
  // A difference is neither open nor closed.
  return rows.map((row) => ({ ...row, range: isBounded(row) ? bounded : others, scale: "unbounded" }));
}

function firstColumns(matrix: Matrix, columns: number): Matrix {
  if (matrix.columns === columns) return matrix;
  const values = Float64Array.from({ length: matrix.rows * columns }, (_, index) => valueAt(matrix, Math.floor(index / columns), index % columns));
  return { ...matrix, columns, values, gaps: matrix.gaps?.slice(0, columns) };
}

function unitFacts(from: ShownSample, both: ShownSample): string[] {
  const [all, common] = [from.rows[0]?.indices.length ?? 0, both.rows[0]?.indices.length ?? 0];
  return common === all ? [] : [`${common} of these ${plural(all, "unit")} are in both`];
}

function timeFacts(from: ShownSample, subtracted: ShownSample): string[] {
  const [one, other] = [from.timesteps, subtracted.timesteps];
  return one === other ? [] : [`the first ${plural(Math.min(one, other), "timestep")}, which both have`];
}
