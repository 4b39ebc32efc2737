// What is left of the error by lag, at the chosen training step and at earlier ones, and what that means.

import { useMemo, useState } from "preact/hooks";
import { chooseStep } from "../actions";
import type { GradientsHeader } from "../api";
import { count } from "../model/format";
import { shareOf } from "../model/figure";
import { endOf, leftText, ratioAt, reachAxis, reachCurve, reachFigure, reachReading, thresholdSide, type ReachCurve } from "../model/reach";
import { missingColour, stepColours } from "../palette";
import type { Payload } from "../safetensors";
import { theme } from "../theme";
import { Chart } from "./Chart";
import { LineNames, type LineName } from "./LineNames";
import { ReachTrend } from "./ReachTrend";
import { Tooltip, type TooltipContent } from "./Tooltip";

const HEIGHT = 276;
const MARGINS = { left: 84, right: 96 };
/** Of the height, what is not the plot. */
const AROUND_PLOT = 44;
/** Lower in the plot than this, there is no room for a name below a line. */
const LOW = 0.9;

interface Props {
  readonly now: Payload<GradientsHeader>;
  readonly earlier: readonly ReachCurve[];
}

export function ReachPanel({ now, earlier }: Props) {
  const { sentence, detail } = useMemo(() => reachReading(now), [now]);
  return (
    <div class={now.header.reach ? "reach" : "reach alone"}>
      {now.header.reach && <ReachChart now={now} earlier={earlier} />}
      <div class="reading">
        <p class="sentence" data-testid="reach-sentence">
          {sentence}
        </p>
        {detail && <p class="quiet">{unbroken(detail)}</p>}
        {now.header.frozen && (
          <p class="quiet" data-testid="frozen">
            This layer is frozen: the gradient passes through it, but its weights do not change.
          </p>
        )}
        <ReachTrend />
      </div>
    </div>
  );
}

interface Pointer {
  readonly lag: number;
  readonly x: number;
  readonly y: number;
}

function ReachChart({ now, earlier }: Props) {
  const [pointer, setPointer] = useState<Pointer | null>(null);
  // By content: a signal gives a new list for the same lines.
  const others = earlier.filter(({ step }) => step < now.header.step);
  const key = others.map(({ step }) => step).join(" ");
  const curves = useMemo((): readonly ReachCurve[] => [...others, reachCurve(now)], [key, now]);
  const colours = stepColours(curves.length - 1, theme.value);
  const figure = useMemo(() => reachFigure(curves, colours, missingColour(theme.value)), [curves, theme.value]);
  const { reach } = now.header;
  const threshold = reach && 1 - shareOf(figure.yRange, Math.log10(reach.threshold));
  return (
    <>
      <Chart
        figure={figure}
        height={HEIGHT}
        margins={MARGINS}
        label={`Share of the gradient that is left, by timesteps back, at training steps ${curves.map(({ step }) => step).join(", ")}`}
        testId="reach-chart"
        onHover={(place, x, y) => setPointer(place === null ? null : { lag: Math.round(place * figure.xRange[1]), x, y })}
      >
        {reach && threshold !== null && (
          <>
            <i class="guide across" style={{ top: percentOf(threshold) }} />
            <span class={`guide-name ${threshold > LOW ? "right" : thresholdSide(curves, reach.threshold)}`} style={{ top: percentOf(threshold) }} data-testid="threshold">
              {`threshold ${leftText(reach.threshold)}`}
            </span>
            {reach.timesteps < reach.limit && (
              <i class="guide down" style={{ left: percentOf(shareOf(figure.xRange, reach.timesteps)), top: percentOf(threshold) }} />
            )}
          </>
        )}
        {pointer && <i class="guide pointer" style={{ left: percentOf(shareOf(figure.xRange, pointer.lag)) }} />}
        <LineNames heading="training step" names={namesOf(curves, colours)} yRange={figure.yRange} height={HEIGHT - AROUND_PLOT} />
      </Chart>
      {pointer && <Tooltip content={contentAt(curves, colours, pointer.lag)} x={pointer.x} y={pointer.y} />}
    </>
  );
}

/** Each line's training step, which a click chooses. */
function namesOf(curves: readonly ReachCurve[], colours: readonly string[]): LineName[] {
  const axis = reachAxis(curves);
  return curves.map((curve, index) => ({
    key: String(curve.step),
    text: count(curve.step),
    colour: colours[index] ?? "",
    end: endOf(curve, axis),
    bold: index === curves.length - 1,
    title: `Go to training step ${count(curve.step)}`,
    onPick: () => chooseStep(curve.step),
  }));
}

/** The chosen step first. */
function contentAt(curves: readonly ReachCurve[], colours: readonly string[], lag: number): TooltipContent {
  const lines = curves.flatMap((curve, index) => {
    const left = ratioAt(curve, lag);
    if (!left) return [];
    return [{ key: String(curve.step), name: `training step ${count(curve.step)}`, value: leftText(left.ratio), colour: colours[index], current: index === curves.length - 1 }];
  });
  return { title: lag === 1 ? "1 timestep back" : `${lag} timesteps back`, lines: lines.reverse() };
}

/** No line ends between a number and its percent sign. */
function unbroken(text: string): string {
  return text.replace(/ %/g, "\u00a0%");
}

function percentOf(share: number): string {
  return `${100 * share}%`;
}
