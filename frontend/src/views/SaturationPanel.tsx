// Beside the maps: how often each unit's gate is nearly closed and nearly open.

import { useState } from "preact/hooks";
import { toggleUnit } from "../actions";
import type { ShownRow } from "../model/activations";
import { percent, plural } from "../model/format";
import { isSigned } from "../model/gates";
import { saturationPoints, unitNames, type Point } from "../model/saturation";
import type { UnitNumbers } from "../model/units";
import { gateColour } from "../palette";
import { asked } from "../selection";
import { theme } from "../theme";
import { Tooltip } from "./Tooltip";
import { SmallPanel } from "./UnitsPanel";
import { UnitTable } from "./UnitTable";

const SIZE = { width: 272, height: 176, left: 52, bottom: 32, top: 8, right: 20 };
const RADIUS = 3.5;
const LARGEST = 11;
const TICKS = [0, 0.5, 1];

const HELP =
  "Each point is a unit: how many of its timesteps the gate is nearly open (to the right) and nearly closed (upwards), over all samples of the probe; " +
  "of a candidate or hidden state, beyond ±0.9, where tanh is at its limits, and within ±0.1. " +
  "Units in a corner are always the one or the other; click a point to see a unit's lines.";

interface Props {
  /** The gate or state that is looked at. */
  readonly row: ShownRow;
  readonly numbers: UnitNumbers;
}

export function SaturationPanel({ row, numbers }: Props) {
  const array = row.array.replace("preactivation/", "activation/");
  const points = saturationPoints(numbers, array);
  const words = isSigned(row.key) || row.key === "hidden_state" ? SIGNED : OPEN;
  return (
    <SmallPanel title={`${words.title}: ${row.name}`} testId="saturation" help={HELP}>
      {points.length === 0 ? (
        <p class="quiet">There are no numbers per unit for this row.</p>
      ) : (
        <>
          <Points points={points} colour={gateColour(row.key, theme.value)} words={words} name={row.name} />
          <UnitTable numbers={numbers} columns={[words.open, words.closed]} values={[numbers.of(array, "nearly_open"), numbers.of(array, "nearly_closed")]} write={percent} />
        </>
      )}
    </SmallPanel>
  );
}

interface Words {
  readonly title: string;
  readonly open: string;
  readonly closed: string;
}

const OPEN: Words = { title: "Nearly closed / nearly open", open: "nearly open (> 0.9)", closed: "nearly closed (< 0.1)" };
const SIGNED: Words = { title: "Near zero / beyond ±0.9", open: "beyond ±0.9", closed: "within ±0.1" };

function Points({ points, colour, words, name }: { readonly points: readonly Point[]; readonly colour: string; readonly words: Words; readonly name: string }) {
  const [pointer, setPointer] = useState<{ point: Point; x: number; y: number } | null>(null);
  const { width, height, left, bottom, top, right } = SIZE;
  const x = (share: number): number => left + share * (width - left - right);
  const y = (share: number): number => height - bottom - share * (height - top - bottom);
  const number = points.reduce((sum, { units }) => sum + units.length, 0);
  return (
    <>
      <svg class="scatter" width={width} height={height} role="img" aria-label={`${plural(number, "unit")} of ${name} by share of timesteps: ${words.closed} against ${words.open}`}>
        <path class="frame" d={`M${x(0)} ${y(1)}V${y(0)}H${x(1)}Z`} />
        {TICKS.map((at) => (
          <g key={at}>
            <text class="tick" x={at === 0 ? x(0) + 6 : x(at)} y={height - bottom + 14}>
              {percent(at)}
            </text>
            {at > 0 && (
              <text class="tick upward" x={left - 6} y={y(at) + 4}>
                {percent(at)}
              </text>
            )}
          </g>
        ))}
        <text class="axis-name" x={(x(0) + x(1)) / 2} y={height - 3}>
          {words.open}
        </text>
        <text class="axis-name upward" transform={`translate(10 ${(y(0) + y(1)) / 2}) rotate(-90)`}>
          {words.closed}
        </text>
        {points.map((point, index) => (
          <circle
            // Their number changes little from step to step, their units do.
            key={index}
            class={point.units.some((unit) => asked.units.value.includes(unit)) ? "pinned" : ""}
            cx={x(point.open)}
            cy={y(point.closed)}
            r={Math.min(LARGEST, RADIUS * Math.sqrt(point.units.length))}
            fill={colour}
            data-testid={`point-${point.units[0]}`}
            onPointerMove={(event) => setPointer({ point, x: event.clientX, y: event.clientY })}
            onPointerLeave={() => setPointer(null)}
            onClick={() => point.units[0] !== undefined && toggleUnit(point.units[0])}
          />
        ))}
      </svg>
      {pointer && (
        <Tooltip
          content={{
            title: unitNames(pointer.point.units),
            lines: [],
            more: [`${words.open}: ${percent(pointer.point.open)}`, `${words.closed}: ${percent(pointer.point.closed)}`],
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </>
  );
}
