// Bands of percentiles over training steps around the median.

import { useMemo, useState } from "preact/hooks";
import { chooseNearest } from "../actions";
import { weightsAxis, weightsTicks } from "../line";
import { BANDS, bandFigure } from "../model/bands";
import type { Bins } from "../model/distribution";
import type { Span } from "../model/figure";
import { count, short } from "../model/format";
import type { Records } from "../model/records";
import { nearestPosition } from "../model/steps";
import { gateOf } from "../model/weightRows";
import { gateColour, withOpacity } from "../palette";
import { theme } from "../theme";
import { Chart } from "./Chart";
import { Tooltip } from "./Tooltip";
import { StepGuide } from "./TrendChart";

const MARGINS = { left: 56, right: 14 };
const HEIGHT = 236;
const OPACITIES = [0.2, 0.35, 0.6];
const TOOLTIP = ["max", "p99", "p95", "p75", "p50", "p25", "p5", "p1", "min"];

interface Props {
  readonly data: Records;
  readonly row: string;
  readonly shown: readonly Bins[];
  readonly range: Span;
  readonly name: string;
}

export function Bands({ data, row, shown, range, name }: Props) {
  const [pointer, setPointer] = useState<{ step: number; x: number; y: number } | null>(null);
  const colour = gateColour(gateOf(row), theme.value);
  const steps = shown.map((bins) => bins.step);
  const figure = useMemo(
    () =>
      bandFigure(data, row, steps.map((at) => data.steps.indexOf(at)), data.steps.map(weightsAxis.value), weightsTicks.value, range, {
        bands: OPACITIES.map((opacity) => withOpacity(colour, opacity)),
        median: MEDIAN[theme.value],
      }),
    [data, row, steps.join(), weightsAxis.value, weightsTicks.value, range, colour, theme.value],
  );
  return (
    <div data-testid="bands">
      <Chart
        figure={figure}
        height={HEIGHT}
        margins={MARGINS}
        label={`Percentiles of ${name} over training steps`}
        testId="band-chart"
        onHover={(place, x, y) => setPointer(place === null ? null : { step: steps[nearestPosition(steps, place, weightsAxis.value)] ?? 0, x, y })}
        onPick={(place) => chooseNearest(place, weightsAxis.value)}
      >
        <StepGuide axis={weightsAxis.value} />
        {pointer && <i class="guide pointer" style={{ left: `${100 * weightsAxis.value(pointer.step)}%` }} />}
      </Chart>
      <p class="band-keys">
        {BANDS.map(({ text }, index) => (
          <span key={text} class="line-key">
            <i class="swatch" style={{ background: withOpacity(colour, OPACITIES[index] ?? 1) }} />
            {text}
          </span>
        ))}
        <span class="line-key">
          <i class="line-sample" style={{ borderTop: `2px solid ${MEDIAN[theme.value]}` }} />
          median
        </span>
      </p>
      {pointer && (
        <Tooltip
          content={{
            title: `training step ${count(pointer.step)}`,
            lines: [],
            more: TOOLTIP.map((column) => `${column.replace(/^p(\d+)$/, "$1 %")}: ${short(data.at(pointer.step, row, column), 4)}`),
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </div>
  );
}

const MEDIAN = { light: "#3c4043", dark: "#f1f3f4" };
