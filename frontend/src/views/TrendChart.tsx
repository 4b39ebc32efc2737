// Lines over training steps, one per gate: names at their ends, numbers under the pointer, a click chooses the step.

import { useState } from "preact/hooks";
import { chooseNearest } from "../actions";
import { axis } from "../line";
import type { Figure } from "../model/figure";
import { count, short } from "../model/format";
import { words } from "../model/gates";
import { isNotFinite, type Value } from "../model/logAxis";
import { nearestPosition } from "../model/steps";
import { gateColour } from "../palette";
import { step } from "../state";
import { theme } from "../theme";
import { Chart, type Margins } from "./Chart";
import { LineNames, type LineName } from "./LineNames";
import { Tooltip } from "./Tooltip";

/** Of the height, what is not the plot. */
const AROUND_PLOT = 44;

interface Props {
  readonly figure: Figure;
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

export function TrendChart({ figure, steps, lines, height, margins, label, testId, nothing }: Props) {
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
        onHover={(place, x, y) => setPointer(place === null ? null : { position: nearestPosition(steps, place, axis.value), x, y })}
        onPick={chooseNearest}
      >
        <LineNames names={lines.map(({ key }) => nameOf(key, figure))} yRange={figure.yRange} height={height - AROUND_PLOT} />
        {step.value !== undefined && <i class="guide step" style={{ left: `${100 * axis.value(step.value)}%` }} />}
        {typeof at === "number" && <i class="guide pointer" style={{ left: `${100 * axis.value(at)}%` }} />}
      </Chart>
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

export function written(value: Value, nothing: string): string {
  if (value === null) return nothing;
  return isNotFinite(value) ? "NaN or Inf" : short(value, 4);
}

function nameOf(key: string, { lines }: Figure): LineName {
  const end = lines.filter((line) => line.key === key).reduce<number | null>((last, line) => line.values.at(-1) ?? last, null);
  return { key, text: words(key), colour: gateColour(key, theme.value), end };
}
