// The training steps: a scalar of the run as a line, the slider below it, and what there is at the chosen step.

import { useRef } from "preact/hooks";
import { chooseNearest, playing, togglePlay } from "../actions";
import { axis, drawn, loss } from "../line";
import type { AxisKind } from "../model/axis";
import { count, plural, short } from "../model/format";
import { asked } from "../selection";
import { pictureSteps, position, run, series, step, steps } from "../state";
import { FindingMarks } from "./FindingMarks";
import { LineChart } from "./LineChart";
import { Facts, Segmented } from "./parts";
import { ScalarPicker } from "./ScalarPicker";
import { useWidth } from "./hooks";

export function Scrubber() {
  const track = useRef<HTMLDivElement>(null);
  const width = useWidth(track);
  const isEmpty = loss.value.points.length === 0 && !loss.value.loading;
  const hasScalars = (run.value?.scalars.length ?? 0) > 0;
  const choose = (event: PointerEvent): void => {
    const box = track.current?.getBoundingClientRect();
    if (box) chooseNearest((event.clientX - box.left) / box.width);
  };
  const drag = {
    onPointerDown(event: PointerEvent): void {
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      choose(event);
    },
    onPointerMove(event: PointerEvent): void {
      if (event.buttons & 1) choose(event);
    },
  };
  return (
    <>
      <div class="scrubber-line">
        <div class="chart" data-testid="loss-line" {...drag}>
          {isEmpty ? (
            <p class="no-line">{`No ${loss.value.name} was logged${hasScalars ? "; the menu has other scalars" : ""}.`}</p>
          ) : (
            <LineChart
              x={drawn.value.places}
              y={drawn.value.values}
              width={width}
              height={56}
              label={`${loss.value.name} over training steps`}
            />
          )}
          <FindingMarks />
          {step.value !== undefined && <i class="chart-mark" style={{ left: `${100 * axis.value(step.value)}%` }} />}
        </div>
        <Readout />
      </div>
      <div class="scrubber" data-testid="scrubber">
        <div class="scrubber-row">
          <div class="track" ref={track} {...drag}>
            <Slider />
          </div>
          <button
            type="button"
            class="play"
            aria-label={playing.value ? "Pause" : "Play the training steps"}
            title={playing.value ? "Pause (space bar)" : "Play (space bar)"}
            data-testid="play"
            onClick={togglePlay}
          >
            {playing.value ? "❚❚" : "▶"}
          </button>
        </div>
        <div class="scrubber-row facts">
          <StepFacts />
          <Segmented<AxisKind>
            label="Axis of training steps"
            testId="axis"
            choices={[
              { key: "linear", text: "linear", title: "Equal distances for equal numbers of steps" },
              { key: "log", text: "log", title: "More room for the first steps" },
            ]}
            chosen={asked.axis.value}
            onChoose={(kind) => (asked.axis.value = kind)}
          />
        </div>
      </div>
    </>
  );
}

function Slider() {
  const place = step.value === undefined ? 0 : 100 * axis.value(step.value);
  return (
    <div
      class="slider"
      role="slider"
      tabIndex={0}
      aria-label="Training step"
      aria-valuemin={steps.value[0] ?? 0}
      aria-valuemax={steps.value.at(-1) ?? 0}
      aria-valuenow={step.value ?? 0}
      aria-valuetext={`training step ${step.value ?? 0}, picture ${position.value + 1} of ${steps.value.length}`}
      data-testid="slider"
    >
      <i class="rail" />
      <i class="filled" style={{ width: `${place}%` }} />
      <svg class="ticks" viewBox="0 0 1000 6" preserveAspectRatio="none" aria-hidden="true">
        <path d={steps.value.map((one) => `M${(1000 * axis.value(one)).toFixed(1)} 0V6`).join("")} />
      </svg>
      <i class="handle" style={{ left: `${place}%` }} />
    </div>
  );
}

function StepFacts() {
  const statistics = series.activations.value ?? series.weights.value;
  return (
    <p data-testid="step-facts">
      <Facts>
        {[
          <b key="step" data-testid="step">{`training step ${count(step.value ?? 0)}`}</b>,
          `pictures at ${plural(pictureSteps.value.length, "step")}`,
          statistics && `numbers at ${count(statistics.steps.length)} of ${count(statistics.header.log_calls)}`,
        ]}
      </Facts>
    </p>
  );
}

/** Which line is drawn, and its value at the chosen step. */
function Readout() {
  const { points } = loss.value;
  const value = points.findLast(([at]) => at <= (step.value ?? 0))?.[2];
  return (
    <div class="readout">
      <ScalarPicker />
      <b data-testid="loss-value">{value === undefined ? "–" : short(value, 4)}</b>
    </div>
  );
}
