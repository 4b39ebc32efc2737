// Ridges: the distribution at each training step, the first at the back, the last in front.

import { ticks } from "d3-array";
import { useMemo, useRef, useState } from "preact/hooks";
import { chooseStep } from "../actions";
import { binSentence, type Bins } from "../model/distribution";
import { shareOf, type Span } from "../model/figure";
import { count, short } from "../model/format";
import { outline, ridges, shownSteps, type Ridge } from "../model/ridges";
import { gateColour } from "../palette";
import { step } from "../state";
import { theme } from "../theme";
import { useWidth } from "./hooks";
import { Tooltip } from "./Tooltip";

const HEIGHT = 220;
/** Over the ridge at the back, and of each ridge: how high its highest bar is. */
const RIDGE = 64;
const FLOOR = 6;
const RIGHT = 108;
const LEFT = 8;

interface Props {
  readonly shown: readonly Bins[];
  readonly range: Span;
  /** For its colour. */
  readonly gate: string;
  readonly name: string;
}

interface Pointer {
  readonly ridge: Ridge;
  readonly value: number;
  readonly x: number;
  readonly y: number;
}

export function Ridges({ shown, range, gate, name }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const width = Math.max(0, useWidth(container) - LEFT - RIGHT);
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const chosen = shown.findLast((bins) => bins.step <= (step.value ?? Infinity))?.step;
  const drawn = useMemo(() => ridges(shownSteps(shown, chosen), range), [shown, chosen, range]);
  const baseline = (index: number): number => (drawn.length > 1 ? RIDGE + ((HEIGHT - RIDGE - FLOOR) * index) / (drawn.length - 1) : HEIGHT - FLOOR);
  const paths = useMemo(() => drawn.map((ridge, index) => pathOf(ridge, baseline(index), width)), [drawn, width]);
  const isCut = drawn.some(({ bars }) => bars.some(({ cut }) => cut));

  function move(event: PointerEvent): void {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left - LEFT) / width, event.clientY - box.top];
    // The ridge in whose own strip the pointer is: the one whose base is next below it.
    const index = drawn.findIndex((_, at) => baseline(at) >= y - 1);
    const ridge = drawn[index < 0 ? drawn.length - 1 : index];
    setPointer(ridge && x >= 0 && x <= 1 ? { ridge, value: range[0] + x * (range[1] - range[0]), x: event.clientX, y: event.clientY } : null);
  }

  return (
    <div class="ridges" ref={container} data-testid="ridges">
      <svg
        width={width + LEFT + RIGHT}
        height={HEIGHT + 34}
        role="img"
        aria-label={`Distribution of ${name} at ${drawn.length} training steps, from ${short(range[0])} to ${short(range[1])}`}
        onPointerMove={move}
        onPointerLeave={() => setPointer(null)}
        onClick={() => pointer && chooseStep(pointer.ridge.bins.step)}
      >
        <g transform={`translate(${LEFT} 0)`}>
          {ticks(...range, 5).map((at) => (
            <g key={at} transform={`translate(${width * shareOf(range, at)} 0)`}>
              <line class="grid" y1={4} y2={HEIGHT} />
              <text class="tick" y={HEIGHT + 15}>
                {short(at)}
              </text>
            </g>
          ))}
          {drawn.map((ridge, index) => (
            <path
              key={ridge.bins.step}
              class={ridge.bins.step === chosen ? "ridge chosen" : "ridge"}
              d={paths[index]}
              fill={gateColour(gate, theme.value)}
              fill-opacity={drawn.length > 1 ? 0.25 + (0.6 * index) / (drawn.length - 1) : 0.85}
            />
          ))}
          {drawn.map(({ bins }, index) => {
            const [isFirst, isLast] = [index === 0, index === drawn.length - 1];
            if (!isFirst && !isLast && bins.step !== chosen) return null;
            if (bins.step === chosen && ((!isFirst && baseline(index) - baseline(0) < 14) || (!isLast && baseline(drawn.length - 1) - baseline(index) < 14))) return null;
            return (
              <text key={bins.step} class={bins.step === chosen ? "ridge-name chosen" : "ridge-name"} x={width + 6} y={baseline(index) + 3}>
                {`${count(bins.step)}${drawn.length > 1 && isFirst ? " (back)" : drawn.length > 1 && isLast ? " (front)" : ""}`}
              </text>
            );
          })}
          {drawn.length > 0 && (
            <text class="axis-name steps" x={width + 6} y={baseline(0) - 14}>
              training step
            </text>
          )}
          <text class="axis-name" x={width / 2} y={HEIGHT + 30}>
            value of an entry
          </text>
        </g>
      </svg>
      {isCut && <p class="quiet">Spikes, where very many entries have one value, are cut at the height of the picture.</p>}
      {pointer && (
        <Tooltip
          content={{ title: `training step ${count(pointer.ridge.bins.step)}`, lines: [], more: [binSentence(pointer.ridge.bins, pointer.value)] }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </div>
  );
}

function pathOf({ bars }: Ridge, base: number, width: number): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return "";
  const points = outline(bars).map(([x, height]) => `${(x * width).toFixed(1)} ${(base - height * RIDGE).toFixed(1)}`);
  return `M${(first.from * width).toFixed(1)} ${base}L${points.join("L")}L${(last.to * width).toFixed(1)} ${base}Z`;
}
