// Any statistic of a part of the weights over training steps, per gate.

import { useMemo, useState } from "preact/hooks";
import { chooseNearest } from "../actions";
import { axis, axisTicks } from "../line";
import type { Figure } from "../model/figure";
import { count, short } from "../model/format";
import { words } from "../model/gates";
import { isNotFinite, type Value } from "../model/logAxis";
import type { Records } from "../model/records";
import { nearestPosition } from "../model/steps";
import { partOf } from "../model/weightRows";
import { canBeLogarithmic, possibleStatistics, STATISTICS, weightTrendFigure, weightTrends, type TrendAxis, type WeightTrend } from "../model/weightTrends";
import { gateColour, missingColour } from "../palette";
import { asked, FIRST_STATISTIC } from "../selection";
import { step } from "../state";
import { theme } from "../theme";
import { Chart } from "./Chart";
import { LineNames, type LineName } from "./LineNames";
import { Segmented, Select } from "./parts";
import { Tooltip } from "./Tooltip";

const MARGINS = { left: 66, right: 96 };
const HEIGHT = 254;
/** Of the height, what is not the plot. */
const AROUND_PLOT = 44;
const AXES: readonly { readonly key: TrendAxis; readonly text: string }[] = [
  { key: "linear", text: "linear" },
  { key: "log", text: "log" },
];

interface Props {
  readonly data: Records;
  /** Whose part is drawn. */
  readonly row: string;
  readonly rows: readonly string[];
}

export function WeightTrends({ data, row, rows }: Props) {
  const part = partOf(row);
  const own = rows.filter((one) => partOf(one) === part);
  const possible = possibleStatistics(data, own);
  const column = possible.includes(asked.statistic.value) ? asked.statistic.value : (possible.find((one) => one === FIRST_STATISTIC) ?? possible[0] ?? "");
  const shown = useMemo(() => weightTrends(data, own, column), [data, own.join(), column]);
  const isLog = canBeLogarithmic(shown) && asked.trendAxis.value === "log";
  return (
    <section class="weight-trends" aria-label={`Trends of the ${words(part)}`} data-testid="weight-trends">
      <div class="norms-title">
        <h3>Trend over training</h3>
        <p class="facts">{`${words(part)}${own.length > 1 ? " of each gate" : ""}`}</p>
        {canBeLogarithmic(shown) && (
          <Segmented label="Axis of the trend" testId="trend-axis" choices={AXES} chosen={isLog ? "log" : "linear"} onChoose={(key) => (asked.trendAxis.value = key)} />
        )}
      </div>
      <div class="distribution-tools">
        <Select
          label="statistic"
          testId="statistic"
          chosen={column}
          options={possible.map((value) => ({ value, text: STATISTICS[value] ?? value }))}
          onChoose={(value) => (asked.statistic.value = value)}
        />
      </div>
      {shown.length === 0 ? <p class="empty">There are no numbers to draw yet.</p> : <TrendChart data={data} shown={shown} column={column} axisKind={isLog ? "log" : "linear"} />}
    </section>
  );
}

interface ChartProps {
  readonly data: Records;
  readonly shown: readonly WeightTrend[];
  readonly column: string;
  readonly axisKind: TrendAxis;
}

function TrendChart({ data, shown, column, axisKind }: ChartProps) {
  const [pointer, setPointer] = useState<{ position: number; x: number; y: number } | null>(null);
  const figure = useMemo(
    () =>
      weightTrendFigure(shown, {
        axis: axisKind,
        places: data.steps.map(axis.value),
        xTicks: axisTicks.value,
        colourOf: (key) => gateColour(key, theme.value),
        notFinite: missingColour(theme.value),
      }),
    [shown, axisKind, axis.value, axisTicks.value, theme.value],
  );
  const at = pointer && data.steps[pointer.position];
  return (
    <>
      <Chart
        figure={figure}
        height={HEIGHT}
        margins={MARGINS}
        label={`${STATISTICS[column] ?? column}, over training steps: ${shown.map(({ key, values }) => `${words(key)} ${written(values.at(-1) ?? null)} at the end`).join(", ")}`}
        testId="weight-trend"
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
            lines: shown.map(({ key, values }) => ({ key, name: words(key), value: written(values[pointer.position] ?? null) })),
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </>
  );
}

function namesOf(shown: readonly WeightTrend[], { lines }: Figure): LineName[] {
  return shown.map(({ key }) => ({
    key,
    text: words(key),
    colour: gateColour(key, theme.value),
    end: lines.filter((line) => line.key === key).reduce<number | null>((end, line) => line.values.at(-1) ?? end, null),
  }));
}

function written(value: Value): string {
  if (value === null) return "no number";
  return isNotFinite(value) ? "NaN or Inf" : short(value, 4);
}
