// The routes of the server, relative to the page: one function each, and the shape of its answer.

import type { Findings } from "./model/findings";
import { decode, type Payload } from "./safetensors";

/** What is recorded of a layer. The gradients of a training batch have numbers but no pictures. */
export type PictureKind = "weights" | "activations" | "gradients";
export type Kind = PictureKind | "training_gradients";

export interface KindSummary {
  readonly last_step: number;
  readonly calls: readonly number[];
}

export interface RunSummary {
  /** TensorBoard's real run name; `name` is the short one, for display. */
  readonly run: string;
  readonly name: string;
  readonly last_step: number;
  /** Seconds since 1970. */
  readonly last_wall_time: number;
  readonly layers: readonly { readonly id: string; readonly kinds: Readonly<Partial<Record<Kind, KindSummary>>> }[];
  readonly scalars: readonly { readonly run: string; readonly tag: string }[];
}

export interface Layer {
  readonly id: string;
  readonly cell: string;
  readonly direction: string;
  readonly gates: readonly string[];
  readonly input_size: number;
  readonly recurrent_size: number;
  readonly units: number;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Training step, wall time in seconds, value. */
export type ScalarPoint = readonly [number, number, number];

/** One value per step; JSON has no NaN and no infinities, so that these are words. */
export type Column = readonly (number | string)[];

/** Of one kind: the steps that have numbers, those of each gate by row and column, and those of the whole layer. */
export interface KindHealth {
  readonly steps: readonly number[];
  readonly rows: Readonly<Record<string, Readonly<Record<string, Column>>>>;
  readonly memory?: Column;
  /** 1 where the memory is a lower bound. */
  readonly memory_censored?: Column;
  readonly reach?: Column;
  readonly reach_limit?: Column;
}

export interface LayerHealth {
  readonly layer: Layer;
  readonly kinds: Readonly<Partial<Record<Kind, KindHealth>>>;
}

export interface Health {
  readonly layers: readonly LayerHealth[];
  readonly loss: readonly ScalarPoint[];
}

/** The newest numbers of a run, over its layers; NaN where there are none. */
export interface Summary {
  readonly memory: number;
  readonly memory_is_bound: boolean;
  readonly reach: number;
  readonly reach_is_bound: boolean;
  readonly change: number;
  readonly loss: number;
}

export interface Series {
  readonly layer: Layer;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly record_columns: readonly string[];
  /** How often was logged so far, of which the stacked steps are what was kept. */
  readonly log_calls: number;
  readonly omitted: readonly { readonly step: number; readonly reason: string }[];
  /** Of training gradients: why rows of the newest step have no numbers, "frozen" or "not computed yet". */
  readonly missing?: Readonly<Record<string, string>>;
}

/** What the histogram of a row shows, in words, at each training step. */
export interface Shapes {
  readonly steps: readonly number[];
  readonly shapes: readonly string[];
}

export interface SnapshotEntry {
  readonly step: number;
  readonly wall_time: number;
  readonly key: string;
}

export interface SnapshotList {
  readonly snapshots: readonly SnapshotEntry[];
  readonly first: SnapshotEntry | null;
  readonly notes: readonly string[];
}

export interface WeightsHeader {
  readonly step: number;
  readonly layer: Layer;
  /** True indices of what is kept: units, inputs, and rows of the recurrent kernel. */
  readonly units: readonly number[];
  readonly inputs: readonly number[];
  readonly recurrent_inputs: readonly number[];
}

/** What a snapshot of samples over time says of both. */
export interface SamplesHeader {
  readonly step: number;
  readonly layer: Layer;
  /** Samples in the probe; fewer may be kept. */
  readonly samples: number;
  /** False where the rows are not the probe's samples, as below a TimeDistributed layer. */
  readonly rows_match_probe?: boolean;
  /** Timesteps of the sequence, and how many of them one column averages. */
  readonly timesteps: number;
  readonly block: number;
  readonly sample_names: readonly string[] | null;
  readonly time_labels: readonly (readonly string[])[] | null;
}

export interface ActivationsHeader extends SamplesHeader {
  readonly units: readonly number[];
  /** The same for the hidden state: components of the projection, where there is one. */
  readonly hidden_units?: readonly number[];
  /** True indices of the features of the input that are kept, and how many there are in all. */
  readonly track_features?: readonly number[];
  readonly track_features_total?: number;
  /** True indices of the units that have numbers of their own, and what these numbers are of. */
  readonly all_units?: readonly number[];
  readonly unit_rows?: readonly string[];
  readonly unit_columns?: readonly string[];
}

/** How far back the error reaches: up to `timesteps` at least `threshold` of it is left. */
export interface Reach {
  readonly timesteps: number;
  /** The longest lag that there was. */
  readonly limit: number;
  /** Over how many positions the median was taken. */
  readonly positions: number;
  readonly threshold: number;
}

export interface GradientsHeader extends SamplesHeader {
  /** Null where no gradient arrives at the layer's outputs. */
  readonly reach: Reach | null;
  /** Whether none of the layer's weights is trained. */
  readonly frozen?: boolean;
}

export function fetchRuns(signal: AbortSignal): Promise<readonly RunSummary[]> {
  return json<{ runs: readonly RunSummary[] }>("runs", {}, signal).then(({ runs }) => runs);
}

export async function fetchHealth(run: string, signal: AbortSignal): Promise<Health> {
  const health = await json<Health>("health", { run }, signal);
  return { ...health, loss: health.loss.map(numericPoint) };
}

export async function fetchSummary(run: string, signal: AbortSignal): Promise<Summary> {
  const summary = await json<Summary>("summary", { run }, signal);
  const [memory, reach, change, loss] = [summary.memory, summary.reach, summary.change, summary.loss].map(Number);
  return { ...summary, memory: memory ?? NaN, reach: reach ?? NaN, change: change ?? NaN, loss: loss ?? NaN };
}

export function fetchFindings(run: string, signal: AbortSignal): Promise<Findings> {
  return json<Findings>("findings", { run }, signal);
}

export async function fetchScalars(run: string, tag: string, signal: AbortSignal): Promise<readonly ScalarPoint[]> {
  const points = await json<readonly ScalarPoint[]>("scalars", { run, tag }, signal);
  return points.map(numericPoint);
}

export function fetchStatistics(run: string, layer: string, kind: Kind, call: number, signal: AbortSignal): Promise<Payload<Series>> {
  return binary<Series>("statistics", { run, layer, kind, call: String(call) }, signal);
}

export function fetchShapes(run: string, layer: string, kind: Kind, call: number, row: string, signal: AbortSignal): Promise<Shapes> {
  return json<Shapes>("shapes", { run, layer, kind, call: String(call), row }, signal);
}

export function fetchSnapshots(run: string, layer: string, kind: Kind, call: number, signal: AbortSignal): Promise<SnapshotList> {
  return json<SnapshotList>("snapshots", { run, layer, kind, call: String(call) }, signal);
}

export function fetchSnapshot<Header>(key: string, signal: AbortSignal): Promise<Payload<Header>> {
  return binary<Header>("snapshot", { key }, signal);
}

async function json<Answer>(route: string, parameters: Record<string, string>, signal: AbortSignal): Promise<Answer> {
  return (await (await request(route, parameters, signal)).json()) as Answer;
}

async function binary<Header>(route: string, parameters: Record<string, string>, signal: AbortSignal): Promise<Payload<Header>> {
  return decode<Header>(await (await request(route, parameters, signal)).arrayBuffer());
}

/** The page's base is the plugin's own folder, behind any path prefix or proxy. */
async function request(route: string, parameters: Record<string, string>, signal: AbortSignal): Promise<Response> {
  const query = new URLSearchParams(parameters).toString();
  const response = await unlessUnreachable(fetch(`./${route}${query ? `?${query}` : ""}`, { signal }));
  if (!response.ok) throw new Error(await failure(route, response));
  return response;
}

async function unlessUnreachable(answer: Promise<Response>): Promise<Response> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Error("TensorBoard does not answer. Is it still running?", { cause: error });
  }
}

/** The server's own sentence where it sent one. */
async function failure(route: string, response: Response): Promise<string> {
  const isText = response.headers.get("Content-Type")?.startsWith("text/plain");
  const sentence = isText ? (await response.text()).trim() : "";
  return sentence || `TensorBoard answered ${response.status} for "${route}"; its terminal may say why.`;
}

/** JSON has no NaN and no infinities; the server sends them as strings. */
function numericPoint([step, wallTime, value]: ScalarPoint): ScalarPoint {
  return [Number(step), Number(wallTime), Number(value)];
}
