// Health: one number of every gate of every layer, at the chosen training step.

import { useRef } from "preact/hooks";
import { mostTiles, rows } from "../health";
import { healthTable } from "../model/exports";
import { HEALTH_CHOICES, healthNumber, type HealthNumber } from "../model/health";
import { count } from "../model/format";
import { asked } from "../selection";
import { health, layerIds, step } from "../state";
import { FindingList } from "./FindingList";
import { columnsFor, gridHeight, HealthGrid } from "./HealthGrid";
import { useWidth } from "./hooks";
import { Panel, WhenReady } from "./Panel";
import { Facts, Select } from "./parts";

const HELP =
  "Each row is a layer and each tile one of its gates: the number is that of the chosen training step, the disc fills with it, and the small line shows it over all training steps. " +
  "Click a tile to see that layer and gate below, and once more to see all its gates; with the keyboard, arrow keys move between tiles and Enter chooses.";

/** What to do where the whole run has no such number. */
const ADVICE: Readonly<Record<HealthNumber, string>> = {
  nearly_open: "No activations were logged in this run. Give the callback a few samples to watch: probe=x_val[:4].",
  nearly_closed: "No activations were logged in this run. Give the callback a few samples to watch: probe=x_val[:4].",
  memory: "No layer of this run has logged how long it remembers: that needs activations, and a gate that keeps the state.",
  change: "No change of weights was logged in this run.",
  gradient: "No gradients were logged in this run. They need a loss: give the probe its target; “How far back the error reaches” below says how.",
};

export function Health() {
  const body = useRef<HTMLDivElement>(null);
  const width = useWidth(body);
  const layers = layerIds.value.length;
  const unit = HEALTH_CHOICES.find(({ value }) => value === asked.health.value)?.unit;
  return (
    <Panel
      title="Health"
      testId="health"
      help={HELP}
      numbers={() => (mostTiles.value > 0 && step.value !== undefined ? [healthTable(rows.value, step.value)] : [])}
      facts={
        <>
          <Select
            label="Number on the tiles"
            testId="health-number"
            options={HEALTH_CHOICES}
            chosen={asked.health.value}
            onChoose={(value) => (asked.health.value = healthNumber(value))}
          />
          <Facts>{[unit, step.value !== undefined && `at training step ${count(step.value)}`]}</Facts>
        </>
      }
    >
      {/* From the start as high as it will be, so that what is below does not jump. */}
      <div class="health-and-findings">
        <div class="health-body" ref={body} style={{ "--height": gridHeight(layers, columnsFor(layers, width)) }}>
          <WhenReady needs={[health]}>
            {() => (mostTiles.value > 0 ? <HealthGrid rows={rows.value} /> : <p class="empty">{ADVICE[asked.health.value]}</p>)}
          </WhenReady>
        </div>
        <FindingList />
      </div>
    </Panel>
  );
}
