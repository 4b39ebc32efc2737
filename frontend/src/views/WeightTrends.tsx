// Any statistic of a part of the weights over training steps, per gate.

import { useMemo } from "preact/hooks";
import { weightsAxis, weightsTicks } from "../line";
import { words } from "../model/gates";
import type { Records } from "../model/records";
import { positionsWithin } from "../model/steps";
import { partOf } from "../model/weightRows";
import { canBeLogarithmic, possibleStatistics, STATISTICS, weightTrendFigure, weightTrends, type TrendAxis, type WeightTrend } from "../model/weightTrends";
import { gateColour, missingColour } from "../palette";
import { asked, FIRST_STATISTIC } from "../selection";
import { theme } from "../theme";
import { Segmented, Select } from "./parts";
import { TrendChart, written } from "./TrendChart";

const MARGINS = { left: 66, right: 96 };
const HEIGHT = 254;
const NOTHING = "no number";
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
  const [steps, shown] = useMemo(() => {
    const positions = positionsWithin(data.steps, asked.span.value);
    return [positions.map((position) => data.steps[position] ?? NaN), weightTrends(data, own, column, positions)];
  }, [data, own.join(), column, asked.span.value]);
  const isLog = canBeLogarithmic(shown) && asked.trendAxis.value === "log";
  return (
    <section class="weight-trends" aria-label={`Trends of the ${words(part)}`} data-testid="weight-trends">
      <div class="norms-title">
        <h3>Trend over training</h3>
        <p class="facts">{`${words(part)}${own.length > 1 ? " of each gate" : ""}`}</p>
      </div>
      <div class="distribution-tools">
        <Select
          label="statistic"
          testId="statistic"
          chosen={column}
          options={possible.map((value) => ({ value, text: STATISTICS[value] ?? value }))}
          onChoose={(value) => (asked.statistic.value = value)}
        />
        {canBeLogarithmic(shown) && (
          <Segmented label="Axis of the trend" testId="trend-axis" choices={AXES} chosen={isLog ? "log" : "linear"} onChoose={(key) => (asked.trendAxis.value = key)} />
        )}
      </div>
      {shown.length === 0 ? <p class="empty">There are no numbers to draw between these training steps.</p> : <Drawn steps={steps} shown={shown} column={column} axisKind={isLog ? "log" : "linear"} />}
    </section>
  );
}

interface ChartProps {
  readonly steps: readonly number[];
  readonly shown: readonly WeightTrend[];
  readonly column: string;
  readonly axisKind: TrendAxis;
}

function Drawn({ steps, shown, column, axisKind }: ChartProps) {
  const figure = useMemo(
    () =>
      weightTrendFigure(shown, {
        axis: axisKind,
        places: steps.map(weightsAxis.value),
        xTicks: weightsTicks.value,
        colourOf: (key) => gateColour(key, theme.value),
        notFinite: missingColour(theme.value),
      }),
    [shown, axisKind, weightsAxis.value, weightsTicks.value, theme.value],
  );
  const ends = shown.map(({ key, values }) => `${words(key)} ${written(values.at(-1) ?? null, NOTHING)} at the end`);
  return (
    <TrendChart
      figure={figure}
      axis={weightsAxis.value}
      steps={steps}
      lines={shown}
      height={HEIGHT}
      margins={MARGINS}
      label={`${STATISTICS[column] ?? column}, over training steps: ${ends.join(", ")}`}
      testId="weight-trend"
      nothing={NOTHING}
    />
  );
}
