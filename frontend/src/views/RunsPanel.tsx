// The runs panel: all runs in a table, and the chosen one beside another.

import { otherRun } from "../compared";
import { plural } from "../model/format";
import { COLUMNS } from "../model/runsTable";
import type { Table } from "../model/table";
import { asked } from "../selection";
import { run, runs } from "../state";
import { fetchSummaries, summaryFailure } from "../summaries";
import { Comparison } from "./Comparison";
import { Failure, Panel } from "./Panel";
import { Facts, Select } from "./parts";
import { runLines, RunsTable } from "./RunsTable";

const HELP =
  "Every run with its newest numbers: click a heading to sort, a run to look at it, and choose one to compare with to see the same layer of both side by side. " +
  "Look for runs that remember and reach further than others at a lower loss.";

export function RunsPanel() {
  const list = runs.state.value.value ?? [];
  if (list.length < 2) return null;
  return (
    <Panel title="Runs" testId="runs-panel" help={HELP} facts={<Facts>{[plural(list.length, "run")]}</Facts>} controls={<ComparePicker />} numbers={numbers}>
      {run.value && otherRun.value && <Comparison one={run.value} other={otherRun.value} />}
      {summaryFailure.value && <Failure message={summaryFailure.value} retry={() => fetchSummaries(list)} />}
      <RunsTable />
    </Panel>
  );
}

function ComparePicker() {
  const others = (runs.state.value.value ?? []).filter((one) => one.run !== run.value?.run);
  return (
    <Select
      label="compare with"
      testId="compare"
      chosen={otherRun.value?.run ?? ""}
      options={[{ value: "", text: "no other run" }, ...others.map((one) => ({ value: one.run, text: one.name }))]}
      onChoose={(value) => (asked.other.value = value)}
    />
  );
}

function numbers(): Table[] {
  return [
    {
      part: "runs",
      columns: ["run", ...COLUMNS.slice(1).map(({ text }) => text)],
      rows: runLines().map((line) => COLUMNS.map(({ value }) => value(line))),
    },
  ];
}
