// One sample of an activations snapshot, as the rows and tracks that the panel draws.

import type { ActivationsHeader, SamplesHeader } from "../api";
import type { Payload } from "../safetensors";
import { activationRows, type Row } from "./gates";
import { count, exact, plural } from "./format";
import { ascending, sampleGaps, sampleMatrix, valueAt, type Matrix } from "./matrix";
import type { Records } from "./records";
import { rowRange, trackRange, type Range } from "./scales";

export interface ShownRow extends Row {
  readonly matrix: Matrix;
  readonly range: Range;
  /** The true index of each row of the matrix. */
  readonly indices: readonly number[];
  /** Components of a projected hidden state are not units. */
  readonly projected: boolean;
}

export interface Track {
  readonly key: string;
  readonly matrix: Matrix;
  readonly range: Range;
  /** The true index of each row of the matrix, and how many features there are in all. */
  readonly features: readonly number[];
  readonly allFeatures: number;
}

/** The time axis of one sample. */
export interface TimeColumns {
  /** One per column where the probe named its timesteps. */
  readonly labels: readonly string[] | null;
  readonly columns: number;
  readonly block: number;
  readonly timesteps: number;
}

export interface ShownSample extends TimeColumns {
  readonly rows: readonly ShownRow[];
  readonly tracks: readonly Track[];
  /** What is one value for the whole sample: target and prediction of a classifier. */
  readonly facts: readonly string[];
}

type Snapshot = Payload<ActivationsHeader>;
type Samples = Payload<SamplesHeader>;

const TRACKS = ["input", "target", "prediction", "loss"];

export function shownSample(snapshot: Snapshot, sample: number, statistics: Records | undefined): ShownSample {
  const { header, tensors } = snapshot;
  const gaps = sampleGaps(tensors.get("mask"), sample);
  const time = timeColumns(snapshot, sample);
  return {
    rows: shownRows(snapshot, activationRows(header.layer, tensors.keys()), sample, statistics),
    tracks: TRACKS.flatMap((key) => track(snapshot, key, sample, time.columns, gaps)),
    facts: TRACKS.flatMap((key) => wholeSampleValue(snapshot, key, sample)),
    ...time,
  };
}

export function shownRows(snapshot: Snapshot, rows: readonly Row[], sample: number, statistics: Records | undefined): ShownRow[] {
  const gaps = sampleGaps(snapshot.tensors.get("mask"), sample);
  return rows.map((row) => shownRow(snapshot, row, sample, gaps, statistics));
}

export function timeColumns({ header, tensors }: Samples, sample: number): TimeColumns {
  return {
    labels: header.time_labels?.[sample] ?? null,
    columns: tensors.get("mask")?.shape[1] ?? 0,
    block: header.block,
    timesteps: header.timesteps,
  };
}

/** How many samples can be chosen. */
export function keptSamples({ tensors }: Samples): number {
  return tensors.get("mask")?.shape[0] ?? 0;
}

/** What a row of the arrays is: a sample of the probe, unless the layer was given other rows. */
export function sampleWord({ header }: Samples): string {
  return header.rows_match_probe === false ? "row" : "sample";
}

export function sampleName(snapshot: Samples, sample: number): string {
  return snapshot.header.sample_names?.[sample] ?? `${sampleWord(snapshot)} ${sample}`;
}

/** "of 4", and where the probe has more than are kept: "of 4 (of 10 in the probe)". */
export function sampleCount(snapshot: Samples): string {
  const kept = keptSamples(snapshot);
  const all = snapshot.header.samples;
  if (kept === all) return `of ${count(all)}`;
  return `of ${count(kept)} (of ${count(all)}${sampleWord(snapshot) === "row" ? " rows" : " in the probe"})`;
}

/** "timestep 38 “l”", or the timesteps that one column averages. */
export function columnName(sample: TimeColumns, column: number): string {
  const first = column * sample.block;
  const last = Math.min(first + sample.block, sample.timesteps) - 1;
  const label = sample.labels?.[column];
  const steps = last > first ? `mean of timesteps ${first}–${last}` : `timestep ${first}`;
  return label === undefined || label === "" ? steps : `${steps} “${label}”`;
}

function shownRow(
  { header, tensors }: Snapshot,
  row: Row,
  sample: number,
  gaps: readonly boolean[] | undefined,
  statistics: Records | undefined,
): ShownRow {
  const tensor = tensors.get(row.array);
  if (!tensor) throw new Error(`The snapshot has no array "${row.array}".`);
  const projected = row.array === "hidden_state" && header.layer.recurrent_size !== header.layer.units;
  const own = (row.array === "hidden_state" ? header.hidden_units : undefined) ?? header.units;
  const order = ascending(own);
  const matrix = sampleMatrix(tensor, sample, order, gaps);
  const range = rowRange(row, header.layer, matrix, statistics);
  return { ...row, matrix, range, projected, indices: order.map((position) => own[position] ?? position) };
}

/** [samples, columns, features], or [samples, columns], which is one row. */
function track({ header, tensors }: Snapshot, key: string, sample: number, columns: number, gaps?: readonly boolean[]): Track[] {
  const tensor = tensors.get(`track/${key}`);
  if (!tensor || tensor.shape.length < 2 || tensor.shape[1] !== columns) return [];
  const kept = tensor.shape[2] ?? 1;
  const cube = { ...tensor, shape: [tensor.shape[0] ?? 0, columns, kept] };
  const positions = Array.from({ length: kept }, (_, position) => position);
  const matrix = sampleMatrix(cube, sample, positions, gaps);
  const known = key === "input" && header.track_features?.length === kept;
  const features = (known && header.track_features) || positions;
  const allFeatures = (known && header.track_features_total) || kept;
  return [{ key, matrix, range: trackRange(matrix), features, allFeatures }];
}

/** "3 features", "32 of 100 features"; nothing where there is but one. */
export function featureCount({ features, allFeatures }: Track): string {
  if (allFeatures === 1) return "";
  return features.length === allFeatures ? plural(allFeatures, "feature") : `${features.length} of ${plural(allFeatures, "feature")}`;
}

/** "input 16" by the true index of the feature; "input" where there is but one. */
export function featureName({ key, features, allFeatures }: Track, row: number): string {
  return allFeatures === 1 ? key : `${key} ${features[row] ?? row}`;
}

function wholeSampleValue({ tensors }: Snapshot, key: string, sample: number): string[] {
  const tensor = tensors.get(`track/${key}`);
  const value = tensor?.shape.length === 1 ? tensor.values[sample] : undefined;
  return value === undefined ? [] : [`${key} ${exact(value)}`];
}

/** The value of a row at a unit and a column; NaN where the row has no such unit. */
export function valueAtUnit(row: ShownRow, unit: number, column: number): number {
  return valueAt(row.matrix, row.indices.indexOf(unit), column);
}
