// The numbers of every run for the table of all runs, fetched a few at a time.

import { signal } from "@preact/signals";
import * as api from "./api";
import type { Findings } from "./model/findings";

const AT_ONCE = 2;

export interface SummedUp {
  readonly summary: api.Summary;
  readonly findings: Findings;
}

/** By run; of a run that was written to meanwhile the old ones, until the new ones are there. */
export const summaries = signal<ReadonlyMap<string, SummedUp>>(new Map());

/** One sentence where numbers of a run could not be had; empty where nothing failed. */
export const summaryFailure = signal("");

const read = new Map<string, number>();
let waiting: api.RunSummary[] = [];
let running = 0;

/** Fetches the summaries of the runs that were written to since they were fetched last. */
export function fetchSummaries(list: readonly api.RunSummary[]): void {
  summaryFailure.value = "";
  waiting = list.filter(({ run, last_wall_time: time }) => read.get(run) !== time);
  while (running < AT_ONCE && waiting.length > 0) void next();
}

async function next(): Promise<void> {
  running += 1;
  for (let one = waiting.shift(); one; one = waiting.shift()) {
    read.set(one.run, one.last_wall_time);
    try {
      const { signal: never } = new AbortController();
      const [summary, findings] = await Promise.all([api.fetchSummary(one.run, never), api.fetchFindings(one.run, never)]);
      summaries.value = new Map(summaries.value).set(one.run, { summary, findings });
    } catch (error) {
      read.delete(one.run); // asked for again with the next reload
      summaryFailure.value = error instanceof Error ? error.message : String(error);
    }
  }
  running -= 1;
}
