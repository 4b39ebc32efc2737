// The gradients of the layer's weights over training steps, per gate.

import { useMemo } from "preact/hooks";
import { axis, axisTicks } from "../line";
import { gradientTrendTable } from "../model/exports";
import { gatesOnScreen, words } from "../model/gates";
import { missingSentences, trendFigure, trendParts, trends, type Trend } from "../model/gradientTrends";
import type { Records } from "../model/records";
import type { Table } from "../model/table";
import { gateColour, missingColour } from "../palette";
import { asked } from "../selection";
import { calls, series, statistics } from "../state";
import { theme } from "../theme";
import { WhenReady } from "./Panel";
import { Facts, Segmented } from "./parts";
import { TrendChart } from "./TrendChart";

const MARGINS = { left: 84, right: 96 };
const HEIGHT = 170;

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
      <Drawn data={data} shown={shown} label={`Norm of the gradient of the ${words(part)}, per gate, over training steps`} />
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

function Drawn({ data, shown, label }: ChartProps) {
  const figure = useMemo(
    () => trendFigure(shown, data.steps.map(axis.value), axisTicks.value, (key) => gateColour(key, theme.value), missingColour(theme.value)),
    [shown, axis.value, axisTicks.value, theme.value],
  );
  if (!shown.some(({ norms }) => norms.some((norm) => norm !== null))) return null;
  return (
    <TrendChart
      figure={figure}
      axis={axis.value}
      steps={data.steps}
      lines={shown.map(({ key, norms }) => ({ key, values: norms }))}
      height={HEIGHT}
      margins={MARGINS}
      label={label}
      testId="gradient-trend"
      nothing="no gradient"
    />
  );
}
