// Tests the table of all runs: what it shows, and its order.

import { expect, it } from "vitest";
import type { RunSummary, Summary } from "../api";
import { COLUMNS, FIRST_ORDER, nextOrder, sortedLines, type RunLine } from "./runsTable";

function line(name: string, time: number, summary?: Partial<Summary>): RunLine {
  const run: RunSummary = { run: `${name}/lstm_gates`, name, last_step: 1200, last_wall_time: time, layers: [{ id: "a", kinds: {} }], scalars: [] };
  return { run, findings: undefined, summary: summary && { memory: NaN, memory_is_bound: false, reach: NaN, reach_is_bound: false, change: NaN, loss: NaN, ...summary } };
}

const LINES = [line("b", 1, { memory: 3, loss: 2 }), line("a", 3, { memory: 40, memory_is_bound: true, change: 0.256 }), line("c", 2)];

it("shows the newest run first, and what is not known last whichever way", () => {
  const names = (order = FIRST_ORDER) => sortedLines(LINES, order).map(({ run }) => run.name);
  expect(names()).toEqual(["a", "c", "b"]);
  expect(names({ key: "memory", descending: true })).toEqual(["a", "b", "c"]);
  expect(names({ key: "memory", descending: false })).toEqual(["b", "a", "c"]);
  expect(names({ key: "name", descending: false })).toEqual(["a", "b", "c"]);
});

it("turns the order of a column round, and begins with the largest number", () => {
  expect(nextOrder(FIRST_ORDER, "updated")).toEqual({ key: "updated", descending: false });
  expect(nextOrder(FIRST_ORDER, "memory")).toEqual({ key: "memory", descending: true });
  expect(nextOrder(FIRST_ORDER, "name")).toEqual({ key: "name", descending: false });
});

it("writes bounds, shares, what is not there and what is on its way", () => {
  const written = (index: number) => Object.fromEntries(COLUMNS.map((column) => [column.key, column.written(LINES[index] as RunLine)]));
  expect(written(1)).toMatchObject({ name: "a", memory: "≥ 40", reach: "–", change: "26 %", loss: "–", layers: "1", step: "1,200" });
  expect(written(0)).toMatchObject({ memory: "3", loss: "2" });
  expect(written(2)).toMatchObject({ memory: "…", loss: "…" });
});
