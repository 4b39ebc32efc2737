// Lines over training steps, one per gate: names at their ends, numbers under the pointer, a click chooses the step.

import { useState } from "preact/hooks";
import { chooseNearest } from "../actions";
import type { Figure } from "../model/figure";
import { count, short } from "../model/format";
import { words } from "../model/gates";
import { isNotFinite, type Value } from "../model/logAxis";
import { nearestPosition, thinned } from "../model/steps";
import { gateColour } from "../palette";
import { step } from "../state";
import { theme } from "../theme";
import { Chart, type Margins } from "./Chart";
import { LineNames, type LineName } from "./LineNames";
import { NumbersDetails } from "./NumbersDetails";
import { Tooltip } from "./Tooltip";

/** Of the height, what is not the plot. */
const AROUND_PLOT = 44;

interface Props {
  readonly figure: Figure;
  /** From a training step to its place 0..1. */
  readonly axis: (step: number) => number;
  readonly steps: readonly number[];
  /** By line, in the order of the names, its values at the steps. */
  readonly lines: readonly { readonly key: string; readonly values: readonly Value[] }[];
  readonly height: number;
  readonly margins: Margins;
  readonly label: string;
  readonly testId: string;
  /** What is said where a line has no value. */
  readonly nothing: string;
}

export function TrendChart({ figure, axis, steps, lines, height, margins, label, testId, nothing }: Props) {
  const [pointer, setPointer] = useState<{ position: number; x: number; y: number } | null>(null);
  const at = pointer && steps[pointer.position];
  return (
    <>
      <Chart
        figure={figure}
        height={height}
        margins={margins}
        label={label}
        testId={testId}
        onHover={(place, x, y) => setPointer(place === null ? null : { position: nearestPosition(steps, place, axis), x, y })}
        onPick={(place) => chooseNearest(place, axis)}
      >
        <LineNames names={lines.map(({ key }) => nameOf(key, figure))} yRange={figure.yRange} height={height - AROUND_PLOT} />
        <StepGuide axis={axis} />
        {typeof at === "number" && <i class="guide pointer" style={{ left: `${100 * axis(at)}%` }} />}
      </Chart>
      <NumbersDetails label={`Numbers of: ${label}`} testId={`${testId}-table`}>
        {() => (
          <>
            <thead>
              <tr>
                <th scope="col">training step</th>
                {lines.map(({ key }) => (
                  <th key={key} scope="col">
                    {words(key)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {thinned(steps.map((_, position) => position)).map((position) => (
                <tr key={position}>
                  <th scope="row">{count(steps[position] ?? NaN)}</th>
                  {lines.map(({ key, values }) => (
                    <td key={key}>{written(values[position] ?? null, "–")}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </>
        )}
      </NumbersDetails>
      {pointer && typeof at === "number" && (
        <Tooltip
          content={{
            title: `training step ${count(at)}`,
            lines: lines.map(({ key, values }) => ({ key, name: words(key), value: written(values[pointer.position] ?? null, nothing) })),
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </>
  );
}

/** The chosen training step, where it is on the axis. */
export function StepGuide({ axis }: { readonly axis: (step: number) => number }) {
  const place = step.value === undefined ? NaN : axis(step.value);
  return place >= 0 && place <= 1 ? <i class="guide step" style={{ left: `${100 * place}%` }} /> : null;
}

export function written(value: Value, nothing: string): string {
  if (value === null) return nothing;
  return isNotFinite(value) ? "NaN or Inf" : short(value, 4);
}

function nameOf(key: string, { lines }: Figure): LineName {
  const end = lines.filter((line) => line.key === key).reduce<number | null>((last, line) => line.values.at(-1) ?? last, null);
  return { key, text: words(key), colour: gateColour(key, theme.value), end };
}
