// All runs in a table that can be sorted; a click chooses the run.

import { useEffect, useRef } from "preact/hooks";
import { chooseRun } from "../actions";
import { COLUMNS, FIRST_ORDER, nextOrder, sortedLines, type Order, type RunLine } from "../model/runsTable";
import { asked } from "../selection";
import { run, runs } from "../state";
import { fetchSummaries, summaries } from "../summaries";
import { useSeen } from "./hooks";

export function runLines(): RunLine[] {
  const lines = (runs.state.value.value ?? []).map((one) => ({ run: one, summary: undefined, findings: undefined, ...summaries.value.get(one.run) }));
  return sortedLines(lines, order());
}

export function RunsTable() {
  const list = runs.state.value.value ?? [];
  const frame = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(frame);
  useEffect(() => {
    if (isSeen) fetchSummaries(list);
  }, [list, isSeen]);
  const by = order();
  return (
    <div class="runs-table" ref={frame} tabIndex={0} role="region" aria-label="All runs">
      <table data-testid="runs-table">
        <thead>
          <tr>
            {COLUMNS.map(({ key, text, title }) => (
              <th key={key} class={`column-${key}`} scope="col" title={title} aria-sort={by.key === key ? (by.descending ? "descending" : "ascending") : "none"}>
                <button type="button" data-testid={`sort-${key}`} onClick={() => choose(nextOrder(by, key))}>
                  {text}
                  <i aria-hidden="true">{by.key === key ? (by.descending ? "▼" : "▲") : ""}</i>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runLines().map((line) => (
            <tr key={line.run.run} class={line.run.run === run.value?.run ? "chosen" : ""}>
              {COLUMNS.map(({ key, written }) =>
                key === "name" ? (
                  <th key={key} scope="row">
                    <button type="button" title={line.run.name} aria-pressed={line.run.run === run.value?.run} onClick={() => chooseRun(line.run.run)}>
                      {written(line)}
                    </button>
                  </th>
                ) : (
                  <td key={key} class={`column-${key}`} title={key === "finding" ? written(line) : undefined}>
                    {written(line)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function order(): Order {
  const { key, descending } = asked.runsOrder.value;
  return COLUMNS.some((column) => column.key === key) ? { key, descending } : FIRST_ORDER;
}

function choose(next: Order): void {
  asked.runsOrder.value = next;
}
