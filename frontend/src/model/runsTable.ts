// The table of all runs: its columns, what they show, and in which order the runs stand.

import { ascending, descending } from "d3-array";
import type { RunSummary, Summary } from "../api";
import { heading, ICONS, type Findings } from "./findings";
import { count, percent, short } from "./format";

export interface RunLine {
  readonly run: RunSummary;
  /** Undefined until it was read. */
  readonly summary: Summary | undefined;
  readonly findings: Findings | undefined;
}

export interface Column {
  readonly key: string;
  readonly text: string;
  /** What the number is, in a sentence. */
  readonly title: string;
  /** Text is sorted upwards first, numbers downwards. */
  readonly value: (line: RunLine) => number | string;
  readonly written: (line: RunLine) => string;
  /** Whether it is known before the summary was read. */
  readonly isListed: boolean;
}

export interface Order {
  readonly key: string;
  readonly descending: boolean;
}

const UNKNOWN = "–";
/** From what is fine to what is worst. */
const SEVERITIES = ["fine", "note", "warning", "error"];

function worstFinding({ verdict, findings }: Findings): string {
  const worst = findings[0];
  return verdict.severity === "fine" || !worst ? "–" : `${ICONS[verdict.severity]} ${heading(worst)}`;
}

const number = (key: "memory" | "reach" | "change" | "loss", write: (value: number, summary: Summary) => string) => ({
  value: ({ summary }: RunLine) => summary?.[key] ?? NaN,
  written: ({ summary }: RunLine) => (summary === undefined ? "…" : Number.isFinite(summary[key]) ? write(summary[key], summary) : Number.isNaN(summary[key]) ? UNKNOWN : short(summary[key])),
  isListed: false,
});

export const COLUMNS: readonly Column[] = [
  { key: "name", text: "run", title: "The run's name", value: ({ run }) => run.name, written: ({ run }) => run.name, isListed: true },
  {
    key: "finding",
    text: "worst finding",
    title: "What looks worst in the run",
    value: ({ findings }) => (findings ? SEVERITIES.indexOf(findings.verdict.severity) : NaN),
    written: ({ findings }) => (findings ? worstFinding(findings) : "…"),
    isListed: false,
  },
  {
    key: "memory",
    text: "memory",
    title: "Timesteps until the median unit has forgotten half, in the layer that remembers longest",
    ...number("memory", (value, { memory_is_bound: bound }) => `${bound ? "≥ " : ""}${short(value)}`),
  },
  {
    key: "reach",
    text: "reach",
    title: "How many timesteps back the error reaches, in the layer where it reaches furthest",
    ...number("reach", (value, { reach_is_bound: bound }) => `${bound ? "≥ " : ""}${short(value)}`),
  },
  { key: "change", text: "change", title: "How much the kernels changed since the start: the median layer's kernel that changed most", ...number("change", percent) },
  { key: "loss", text: "final loss", title: "The newest loss in our own records", ...number("loss", (value) => short(value, 4)) },
  { key: "layers", text: "layers", title: "How many recurrent layers were logged", value: ({ run }) => run.layers.length, written: ({ run }) => count(run.layers.length), isListed: true },
  { key: "step", text: "last training step", title: "The training step of the newest record", value: ({ run }) => run.last_step, written: ({ run }) => count(run.last_step), isListed: true },
  {
    key: "updated",
    text: "updated",
    title: "When the newest record was written",
    value: ({ run }) => run.last_wall_time,
    written: ({ run }) => new Date(run.last_wall_time * 1000).toLocaleString([], { dateStyle: "short", timeStyle: "short" }),
    isListed: true,
  },
];

/** The newest run first, until a column was chosen. */
export const FIRST_ORDER: Order = { key: "updated", descending: true };

/** What is not known stands below, whichever way. */
export function sortedLines(lines: readonly RunLine[], order: Order): RunLine[] {
  const column = COLUMNS.find(({ key }) => key === order.key) ?? COLUMNS[0];
  if (!column) return [...lines];
  const compare = order.descending ? descending : ascending;
  const isUnknown = (value: number | string): boolean => typeof value === "number" && Number.isNaN(value);
  return [...lines].sort((a, b) => {
    const [first, second] = [column.value(a), column.value(b)];
    return Number(isUnknown(first)) - Number(isUnknown(second)) || compare(first, second) || ascending(a.run.name, b.run.name);
  });
}

/** The other way round where the column was chosen already. */
export function nextOrder(order: Order, key: string): Order {
  if (order.key === key) return { key, descending: !order.descending };
  return { key, descending: key !== "name" };
}
