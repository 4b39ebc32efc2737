// The gradients of the layer's weights over training steps, per gate.

import { useMemo, useState } from "preact/hooks";
import { chooseNearest } from "../actions";
import { axis, axisTicks } from "../line";
import { gradientTrendTable } from "../model/exports";
import { count, short } from "../model/format";
import type { Figure, Line } from "../model/figure";
import { gatesOnScreen, words } from "../model/gates";
import { missingSentences, trendFigure, trendParts, trends, type Trend } from "../model/gradientTrends";
import { isNotFinite, type Value } from "../model/logAxis";
import type { Records } from "../model/records";
import { nearestPosition } from "../model/steps";
import type { Table } from "../model/table";
import { gateColour, missingColour } from "../palette";
import { asked } from "../selection";
import { calls, series, statistics, step } from "../state";
import { theme } from "../theme";
import { Chart } from "./Chart";
import { LineNames, type LineName } from "./LineNames";
import { WhenReady } from "./Panel";
import { Facts, Segmented } from "./parts";
import { Tooltip } from "./Tooltip";

const MARGINS = { left: 84, right: 96 };
const HEIGHT = 170;
/** Of the height, what is not the plot. */
const AROUND_PLOT = 44;

/** Those of the training itself where they were logged, else those of the probe. */
export function GradientTrends() {
  const kind = trendKind();
  if (calls.value[kind].length === 0) return null;
  return (
    <WhenReady needs={[statistics[kind]]}>
      {() => {
        const data = series[kind].value;
        return data && <Trends data={data} source={kind === "gradients" ? "on the probe" : "in training, after backward()"} />;
      }}
    </WhenReady>
  );
}

function trendKind(): "training_gradients" | "gradients" {
  return calls.value.training_gradients.length > 0 ? "training_gradients" : "gradients";
}

/** The lines that are drawn, as numbers. */
export function shownTrends(): Table[] {
  const data = series[trendKind()].value;
  if (!data) return [];
  const part = shownPart(data);
  return [gradientTrendTable(trends(data, part, shownGates(data)), data.steps, part)];
}

function shownPart(data: Records): string {
  const parts = trendParts(data);
  return parts.includes(asked.gradientPart.value) ? asked.gradientPart.value : (parts[0] ?? "");
}

function Trends({ data, source }: { readonly data: Records; readonly source: string }) {
  const parts = trendParts(data);
  const part = shownPart(data);
  const shown = useMemo(() => trends(data, part, shownGates(data)), [data, part, asked.gate.value]);
  return (
    <div class="gradient-trends" data-testid="gradient-trends">
      <div class="norms-title">
        <h3>Gradient norm of the weights over training</h3>
        <p class="facts">
          <Facts>{[source]}</Facts>
        </p>
        {parts.length > 1 && (
          <Segmented
            label="Whose gradient is drawn"
            testId="gradient-part"
            choices={parts.map((key) => ({ key, text: words(key) }))}
            chosen={part}
            onChoose={(key) => (asked.gradientPart.value = key)}
          />
        )}
      </div>
      <TrendChart data={data} shown={shown} label={`Norm of the gradient of the ${words(part)}, per gate, over training steps`} />
      {missingSentences(data).map((sentence) => (
        <p key={sentence} class="quiet" data-testid="missing-gradients">
          {sentence}
        </p>
      ))}
      {hasGaps(shown, data) && <p class="quiet">Where a line has a gap, there was no gradient at that training step.</p>}
    </div>
  );
}

function shownGates(data: Records): string[] {
  const gates = gatesOnScreen(data.header.layer.gates);
  return gates.includes(asked.gate.value) ? [asked.gate.value] : gates;
}

/** Gaps that the newest record does not explain. */
function hasGaps(shown: readonly Trend[], { header }: Records): boolean {
  return shown.some(({ row, norms }) => !header.missing?.[row] && norms.includes(null));
}

interface ChartProps {
  readonly data: Records;
  readonly shown: readonly Trend[];
  readonly label: string;
}

function TrendChart({ data, shown, label }: ChartProps) {
  const [pointer, setPointer] = useState<{ position: number; x: number; y: number } | null>(null);
  const figure = useMemo(
    () => trendFigure(shown, data.steps.map(axis.value), axisTicks.value, (key) => gateColour(key, theme.value), missingColour(theme.value)),
    [shown, axis.value, axisTicks.value, theme.value],
  );
  if (!shown.some(({ norms }) => norms.some((norm) => norm !== null))) return null;
  const at = pointer && data.steps[pointer.position];
  return (
    <>
      <Chart
        figure={figure}
        height={HEIGHT}
        margins={MARGINS}
        label={label}
        testId="gradient-trend"
        onHover={(place, x, y) => setPointer(place === null ? null : { position: nearestPosition(data.steps, place, axis.value), x, y })}
        onPick={chooseNearest}
      >
        <LineNames names={namesOf(shown, figure)} yRange={figure.yRange} height={HEIGHT - AROUND_PLOT} />
        {step.value !== undefined && <i class="guide step" style={{ left: `${100 * axis.value(step.value)}%` }} />}
        {typeof at === "number" && <i class="guide pointer" style={{ left: `${100 * axis.value(at)}%` }} />}
      </Chart>
      {pointer && typeof at === "number" && (
        <Tooltip
          content={{
            title: `training step ${count(at)}`,
            lines: shown.map(({ key, norms }) => ({ key, name: words(key), value: written(norms[pointer.position] ?? null) })),
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </>
  );
}

function namesOf(shown: readonly Trend[], { lines }: Figure): LineName[] {
  return shown.map(({ key }) => ({
    key,
    text: words(key),
    colour: gateColour(key, theme.value),
    end: lines.filter((line) => line.key === key).reduce<number | null>((end, line) => lastOf(line.values) ?? end, null),
  }));
}

function lastOf(values: Line["values"]): number | null {
  return values.at(-1) ?? null;
}

function written(norm: Value): string {
  if (norm === null) return "no gradient";
  return isNotFinite(norm) ? "NaN or Inf" : short(norm, 4);
}
