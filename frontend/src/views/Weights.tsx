// The weights panel: every gate's kernel, recurrent kernel, bias and more, and how they changed.

import { statisticsTable, weightTables } from "../model/exports";
import { count, plural } from "../model/format";
import type { Table } from "../model/table";
import { drawnColumns, shownColumns } from "../model/weightMaps";
import { sameEntries, type WeightColumn } from "../model/weights";
import { asked, type WeightsMode } from "../selection";
import { calls, firstWeights, layer, picture, previousWeights, series, snapshots, statistics, step, weights, weightsBefore } from "../state";
import { notesOf } from "./notes";
import { Notes, Panel, WhenReady } from "./Panel";
import { Facts, Segmented } from "./parts";
import { WeightMaps } from "./WeightMaps";
import { WeightNumbers } from "./WeightNumbers";

const HELP =
  "Each picture is one gate's part of the weights, a row for each input (below: for each component of the previous hidden state) and a column for each unit; " +
  "the entries are exact, never averaged, and so are their changes. " +
  "Below is how all of a gate's weights are distributed at every training step, and how any of their numbers went.";

export function Weights() {
  const folded = asked.weightsFolded.value;
  return (
    <Panel title="Weights" testId="weights" help={HELP} facts={folded ? null : <ShownFacts />} controls={<Controls />} numbers={shownNumbers}>
      {!folded && <Body />}
    </Panel>
  );
}

function shownNumbers(): Table[] {
  if (asked.weightsFolded.value) return [];
  const data = series.weights.value;
  return [...weightTables(shownWeights(), asked.weights.value === "value" ? "value" : "change"), ...(data ? [statisticsTable("statistics", data)] : [])];
}

/** The entries that are drawn, or how they changed; none where there is nothing to compare with. */
function shownWeights(): readonly WeightColumn[] {
  const now = weights.state.value.value;
  if (!now) return [];
  if (asked.weights.value === "value") return drawnColumns(shownColumns(now, undefined), asked.gate.value);
  const then = weightsBefore.state.value.value;
  return then && sameEntries(now.header, then.header) ? drawnColumns(shownColumns(now, then), asked.gate.value) : [];
}

function Body() {
  if (calls.value.weights.length === 0) return <p class="empty">No weights were logged for this layer.</p>;
  const compared = asked.weights.value !== "value" && before() !== undefined;
  return (
    <>
      <WhenReady needs={compared ? [snapshots.weights, weights, weightsBefore] : [snapshots.weights, weights]}>
        {() => <Compared />}
      </WhenReady>
      <Notes sentences={notesOf("weights")} />
      <WhenReady needs={[statistics.weights]}>{() => series.weights.value && <WeightNumbers data={series.weights.value} />}</WhenReady>
    </>
  );
}

/** The picture that a change is measured from. */
function before() {
  return asked.weights.value === "start" ? firstWeights.value : previousWeights.value;
}

function Compared() {
  const now = weights.state.value.value;
  if (!now) return null;
  if (asked.weights.value === "value") return <WeightMaps now={now} />;
  const then = weightsBefore.state.value.value;
  if (!then) return <p class="empty">{`The picture of training step ${count(now.header.step)} is the first; there is none to compare with.`}</p>;
  if (sameEntries(now.header, then.header)) return <WeightMaps now={now} before={then} />;
  return (
    <p class="empty">
      {`The picture of training step ${count(then.header.step)} is of a layer of another size, so there is no change to show.`}
    </p>
  );
}

function ShownFacts() {
  const payload = weights.state.value.value;
  if (!payload || !layer.value) return null;
  const { header } = payload;
  const shown = before();
  return (
    <Facts>
      {[
        share(header.units.length, header.layer.units, "unit"),
        share(header.inputs.length, header.layer.input_size, "input"),
        asked.weights.value !== "value" && shown && `change since training step ${count(shown.step)}`,
        picture.weights.value?.step !== step.value && `picture of training step ${count(header.step)}`,
      ]}
    </Facts>
  );
}

function share(kept: number, all: number, word: string): string {
  return kept === all ? plural(all, word) : `${count(kept)} of ${plural(all, word)}`;
}

function Controls() {
  const folded = asked.weightsFolded.value;
  return (
    <>
      {!folded && (
        <Segmented<WeightsMode>
          label="What the weights show"
          testId="weights-mode"
          choices={[
            { key: "value", text: "value" },
            { key: "start", text: "change since start" },
            { key: "previous", text: "change since previous" },
          ]}
          chosen={asked.weights.value}
          onChoose={(mode) => (asked.weights.value = mode)}
        />
      )}
      <button
        type="button"
        class="fold"
        aria-expanded={!folded}
        data-testid="weights-fold"
        onClick={() => (asked.weightsFolded.value = !folded)}
      >
        {folded ? "show" : "fold"}
      </button>
    </>
  );
}
