// How far back the error reached over the training steps.

import { useMemo, useState } from "preact/hooks";
import { chooseNearest } from "../actions";
import { axis, axisTicks } from "../line";
import { count, plural } from "../model/format";
import { shareOf } from "../model/figure";
import { reachTrendFigure } from "../model/gradientTrends";
import { nearestPosition } from "../model/steps";
import { normColour } from "../palette";
import { series, step } from "../state";
import { theme } from "../theme";
import { Chart } from "./Chart";
import { Tooltip } from "./Tooltip";

const MARGINS = { left: 34, right: 12 };
const HEIGHT = 124;

export function ReachTrend() {
  const data = series.gradients.value;
  const [pointer, setPointer] = useState<{ position: number; x: number; y: number } | null>(null);
  const figure = useMemo(
    () =>
      data &&
      reachTrendFigure(data, data.steps.map(axis.value), axisTicks.value, normColour("hidden_state", theme.value), normColour("limit", theme.value)),
    [data, axis.value, axisTicks.value, theme.value],
  );
  const reaches = data?.recordSeries("reach") ?? [];
  if (!data || !figure || data.steps.length < 2 || !reaches.some(Number.isFinite)) return null;
  const at = pointer && { step: data.steps[pointer.position] ?? 0, reach: reaches[pointer.position] ?? NaN };
  return (
    <figure class="reach-trend">
      <figcaption>
        <b>Over training</b>
        <span class="quiet">{`timesteps that it reaches back, of ${count(Math.max(...data.recordSeries("reach_limit").filter(Number.isFinite), 0))}`}</span>
      </figcaption>
      <Chart
        figure={figure}
        height={HEIGHT}
        margins={MARGINS}
        label="How many timesteps the error reaches back, over training steps"
        testId="reach-trend"
        onHover={(place, x, y) => setPointer(place === null ? null : { position: nearestPosition(data.steps, place, axis.value), x, y })}
        onPick={chooseNearest}
      >
        {step.value !== undefined && <i class="guide step" style={{ left: `${100 * axis.value(step.value)}%` }} />}
        {at && <i class="guide pointer" style={{ left: `${100 * shareOf(figure.xRange, axis.value(at.step))}%` }} />}
      </Chart>
      {pointer && at && (
        <Tooltip
          content={{
            title: `training step ${count(at.step)}`,
            lines: [],
            more: [Number.isFinite(at.reach) ? `reaches ${plural(at.reach, "timestep")} back` : "no gradient arrives"],
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </figure>
  );
}
