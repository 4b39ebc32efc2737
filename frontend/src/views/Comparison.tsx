// The chosen run beside another one: the same layer's pictures on one scale, and one measure over both trainings.

import { useMemo, useRef, useState } from "preact/hooks";
import { chooseStep } from "../actions";
import type { ActivationsHeader, Health, RunSummary } from "../api";
import { hasPartner, otherActivations, otherHealth, otherSnapshots } from "../compared";
import { keptSamples, shownSample, type ShownRow } from "../model/activations";
import { comparedFigure, isOfGate, MEASURES, measureOf, possibleMeasures, valueBefore, type ComparedLine } from "../model/compare";
import { count, short } from "../model/format";
import { sharedRange } from "../model/scales";
import type { Payload } from "../safetensors";
import { normColour } from "../palette";
import { ALL_GATES, asked } from "../selection";
import { sampleIndex, shown, snapshot } from "../shown";
import { activations, health, layer, layerId, step } from "../state";
import { theme } from "../theme";
import { Chart } from "./Chart";
import { Heatmap } from "./Heatmap";
import { useWidth } from "./hooks";
import { LineNames } from "./LineNames";
import { WhenReady } from "./Panel";
import { ColourBar, Select, Swatch } from "./parts";
import { Tooltip } from "./Tooltip";

const MAP_HEIGHT = 120;
const CHART_HEIGHT = 190;
const AROUND_PLOT = 44;
const MARGINS = { left: 56, right: 150 };
const LONGEST_NAME = 24;

export function Comparison({ one, other }: { readonly one: RunSummary; readonly other: RunSummary }) {
  return (
    <div class="comparison" data-testid="comparison">
      {hasPartner.value ? (
        <WhenReady needs={[activations, otherSnapshots, otherActivations]}>
          {() => {
            const [mine, theirs] = [snapshot.value, otherActivations.state.value.value];
            return mine && theirs && <Pictures one={one} other={other} theirs={theirs} />;
          }}
        </WhenReady>
      ) : (
        <p class="empty">{`The run “${other.name}” has no activations of a layer ${layerId.value}: layers are compared by their id.`}</p>
      )}
      <WhenReady needs={[health, otherHealth]}>
        {() => {
          const [mine, theirs] = [health.state.value.value, otherHealth.state.value.value];
          return mine && theirs && <Trends runs={[one, other]} healths={[mine, theirs]} />;
        }}
      </WhenReady>
    </div>
  );
}

interface PicturesProps {
  readonly one: RunSummary;
  readonly other: RunSummary;
  readonly theirs: Payload<ActivationsHeader>;
}

function Pictures({ one, other, theirs }: PicturesProps) {
  const sample = Math.min(sampleIndex.value, keptSamples(theirs) - 1);
  const there = useMemo(() => shownSample(theirs, sample, undefined), [theirs, sample]);
  const row = rowLookedAt(shown.value?.rows ?? []);
  const partner = there.rows.find(({ key }) => key === row?.key);
  if (!row || !partner || !snapshot.value) return null;
  const range = sharedRange(row, partner);
  return (
    <div class="side-by-side">
      {[
        { run: one, shown: row, at: snapshot.value.header.step },
        { run: other, shown: partner, at: theirs.header.step },
      ].map(({ run, shown: drawn, at }, index) => (
        <figure key={run.run} class="map">
          <figcaption>
            <Swatch gate="" colour={runColours()[index]} />
            <b title={run.name}>{run.name}</b>
            <span class="meaning">{`${drawn.name}, sample ${index === 0 ? sampleIndex.value : sample}, training step ${count(at)}`}</span>
            <ColourBar range={range} />
          </figcaption>
          <Heatmap
            matrix={drawn.matrix}
            range={range}
            height={MAP_HEIGHT}
            label={`${drawn.name} of the run ${run.name}, units by timesteps`}
            testId={`compared-${index}`}
            mark={null}
            onHover={() => undefined}
          />
        </figure>
      ))}
    </div>
  );
}

interface TrendsProps {
  readonly runs: readonly [RunSummary, RunSummary];
  readonly healths: readonly [Health, Health];
}

function Trends({ runs, healths }: TrendsProps) {
  const container = useRef<HTMLDivElement>(null);
  useWidth(container);
  const [pointer, setPointer] = useState<{ step: number; x: number; y: number } | null>(null);
  const gate = asked.gate.value !== ALL_GATES && layer.value?.gates.includes(asked.gate.value) ? asked.gate.value : firstGate();
  const possible = possibleMeasures(healths, layerId.value, gate);
  const measure = possible.find((one) => one === asked.measure.value) ?? possible[0];
  const lines = useMemo(
    (): ComparedLine[] =>
      measure === undefined
        ? []
        : healths.map((each, index) => ({
            key: String(index),
            series: measureOf(each, layerId.value, measure, gate),
            colour: runColours()[index] ?? "",
            ...(index === 1 && { dash: [6, 4] }),
          })),
    [healths[0], healths[1], layerId.value, measure, gate, theme.value],
  );
  const { figure, steps, place } = useMemo(() => comparedFigure(lines, asked.axis.value), [lines, asked.axis.value]);
  if (measure === undefined) return <p class="empty">There is nothing that both runs could be compared by.</p>;
  const nearest = (at: number): number => steps.reduce((best, one) => (Math.abs(place(one) - at) < Math.abs(place(best) - at) ? one : best), steps[0] ?? 0);
  return (
    <div ref={container}>
      <div class="distribution-tools">
        <Select
          label="over training"
          testId="measure"
          chosen={measure}
          options={possible.map((value) => ({ value, text: `${MEASURES[value]}${isOfGate(value) ? `: ${gate}` : ""}` }))}
          onChoose={(value) => (asked.measure.value = value)}
        />
      </div>
      <Chart
        figure={figure}
        height={CHART_HEIGHT}
        margins={MARGINS}
        label={`${MEASURES[measure]} of two runs over training steps`}
        testId="compared-trend"
        onHover={(at, x, y) => setPointer(at === null ? null : { step: nearest(at), x, y })}
        onPick={(at) => chooseStep(nearest(at))}
      >
        <LineNames
          names={lines.map(({ key, colour, series: own }, index) => ({ key, colour, text: shortened(runs[index]?.name ?? ""), end: own.values.findLast(Number.isFinite) ?? null }))}
          yRange={figure.yRange}
          height={CHART_HEIGHT - AROUND_PLOT}
        />
        {step.value !== undefined && <i class="guide step" style={{ left: `${100 * place(step.value)}%` }} />}
        {pointer && <i class="guide pointer" style={{ left: `${100 * place(pointer.step)}%` }} />}
      </Chart>
      {pointer && (
        <Tooltip
          content={{
            title: `training step ${count(pointer.step)}`,
            lines: lines.map(({ key, colour, series: own }, index) => ({ key: `run-${key}`, name: shortened(runs[index]?.name ?? ""), value: short(valueBefore(own, pointer.step), 4), colour })),
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </div>
  );
}

/** The chosen gate or state, or the first. */
function rowLookedAt(rows: readonly ShownRow[]): ShownRow | undefined {
  return rows.find(({ key }) => key === asked.gate.value) ?? rows[0];
}

function firstGate(): string {
  const gates = layer.value?.gates ?? [];
  return ["forget", "update"].find((gate) => gates.includes(gate)) ?? gates[0] ?? "";
}

/** The chosen run's, and the other's, whose line is dashed as well. */
function runColours(): readonly string[] {
  return [normColour("hidden_state", theme.value), normColour("cell_state", theme.value)];
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `…${name.slice(1 - LONGEST_NAME)}` : name;
}
