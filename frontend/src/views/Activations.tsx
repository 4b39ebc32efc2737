// The activations panel: what every gate and state did at each timestep of a sample.

import { needsOtherStep, otherStep, probeChanged } from "../differences";
import { difference, mapGate, maps } from "../maps";
import { activationTables, differenceTables } from "../model/exports";
import { keptSamples, sampleCount, sampleName, sampleWord } from "../model/activations";
import { count, plural } from "../model/format";
import type { Table } from "../model/table";
import { ALL_GATES, asked } from "../selection";
import { sampleIndex, selfChecked, shown, snapshot } from "../shown";
import { activations, call, calls, snapshots, step } from "../state";
import { ActivationMaps } from "./ActivationMaps";
import { notesOf } from "./notes";
import { Notes, Panel, WhenReady } from "./Panel";
import { Facts, Segmented, Select } from "./parts";

const HELP =
  "Each picture is one gate or state for one sample: a row is a unit, a column is a timestep, and the colour is the value. " +
  "Hover for the exact values of all gates there; click to pin a cell and see it change over the training steps " +
  "(Shift and an arrow key move it, Escape lets go).";

export function Activations() {
  return (
    <Panel title="Activations" testId="activations" help={HELP} facts={<ShownFacts />} controls={<Controls />} numbers={shownNumbers}>
      {selfChecked.value?.passed === false && <p class="warning">{selfChecked.value.text}</p>}
      {calls.value.activations.length === 0 ? (
        <p class="empty">
          No activations were logged for this layer. Give the callback a few samples to watch: <code>probe=x_val[:4]</code>.
        </p>
      ) : (
        <WhenReady needs={[snapshots.activations, activations, ...(needsOtherStep.value ? [otherStep] : [])]}>
          {() => maps.value && shown.value && <ActivationMaps sample={maps.value} values={shown.value} gate={mapGate.value} />}
        </WhenReady>
      )}
      <Notes sentences={notesOf("activations")} />
    </Panel>
  );
}

function shownNumbers(): Table[] {
  const isDrawn = (key: string): boolean => mapGate.value === ALL_GATES || key === mapGate.value;
  if (!maps.value) return [];
  if (difference.value) return differenceTables(maps.value, difference.value, isDrawn);
  return activationTables(maps.value, isDrawn, sampleIndex.value);
}

function ShownFacts() {
  if (!snapshot.value || !shown.value) return null;
  const { header } = snapshot.value;
  const { units } = header.layer;
  const kept = header.units.length;
  return (
    <>
      <SamplePicker />
      <Facts>
        {[
          sampleCount(snapshot.value),
          ...shown.value.facts,
          kept === units ? plural(units, "unit") : `${count(kept)} of ${plural(units, "unit")}`,
          header.block > 1 && `one column per ${header.block} timesteps`,
          difference.value && <b>{difference.value.name}</b>,
          ...(difference.value?.facts ?? []),
          difference.value && probeChanged.value && "the probe was another one then",
          header.step !== step.value && `picture of training step ${count(header.step)}`,
        ]}
      </Facts>
    </>
  );
}

/** Only the samples that the picture has room for; the probe may have more. */
function SamplePicker() {
  const payload = snapshot.value;
  if (!payload) return null;
  const samples = Array.from({ length: keptSamples(payload) }, (_, sample) => sample);
  return (
    <Select
      label={sampleWord(payload)}
      testId="sample"
      chosen={String(sampleIndex.value)}
      options={samples.map((sample) => ({ value: String(sample), text: sampleName(payload, sample) }))}
      onChoose={(value) => (asked.sample.value = Number(value))}
    />
  );
}

function Controls() {
  if (!maps.value) return null;
  return (
    <>
      {calls.value.activations.length > 1 && (
        <Select
          label="call"
          testId="call"
          chosen={String(call.value)}
          options={calls.value.activations.map((one) => ({ value: String(one), text: String(one) }))}
          onChoose={(value) => (asked.call.value = Number(value))}
        />
      )}
      <Segmented
        label="Gate"
        testId="gate"
        choices={[{ key: ALL_GATES, text: "all" }, ...maps.value.rows.map(({ key, name }) => ({ key, text: name }))]}
        chosen={mapGate.value}
        onChoose={(key) => (asked.gate.value = key)}
      />
    </>
  );
}
