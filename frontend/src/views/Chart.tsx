// Lines with axes, drawn by uPlot; what lies over them, and the pointer, are places 0..1 of the plot.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { isolated, type Figure, type Line } from "../model/figure";
import { theme } from "../theme";
import { useWidth } from "./hooks";

/** Around the plot, in pixels; axes are at the left and, where there is one, at the bottom. */
export interface Margins {
  readonly left: number;
  readonly right: number;
}

interface Props {
  /** Made once for each change: a new one is drawn anew. */
  readonly figure: Figure;
  readonly height: number;
  readonly margins: Margins;
  /** What the chart shows, for those who cannot see it. */
  readonly label: string;
  readonly testId: string;
  /** Over the plot. */
  readonly children?: ComponentChildren;
  /** A place 0..1 from left to right; null when the pointer leaves. */
  readonly onHover?: (place: number | null, x: number, y: number) => void;
  readonly onPick?: (place: number) => void;
}

const TOP = 8;
const BOTTOM_WITHOUT_AXIS = 4;
const TICK_LABELS = 20;
const AXIS_NAME = 16;
const FONT = '11px Roboto, "Segoe UI", system-ui, "DejaVu Sans", sans-serif';
const COLOURS = {
  light: { text: "#5f6368", grid: "#e4e6e9" },
  dark: { text: "#b4b7bc", grid: "#484848" },
};
const DOT = 5;

export function Chart({ figure, height, margins, label, testId, children, onHover, onPick }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const { left, right } = margins;
  useEffect(() => {
    const element = container.current;
    if (!element || width <= left + right) return undefined;
    const plot = new uPlot(options(figure, width, height, { left, right }), dataOf(figure), element);
    return () => plot.destroy();
  }, [figure, width, height, left, right, theme.value]);

  return (
    <div class="line-chart" style={{ height: `${height}px` }} data-testid={testId}>
      <div ref={container} role="img" aria-label={label} />
      <div
        class={onPick ? "plot pickable" : "plot"}
        style={{ left: `${left}px`, right: `${right}px`, top: `${TOP}px`, bottom: `${bottomOf(figure)}px` }}
        onPointerMove={(event) => onHover?.(placeOf(event), event.clientX, event.clientY)}
        onPointerLeave={(event) => onHover?.(null, event.clientX, event.clientY)}
        onClick={(event) => onPick?.(placeOf(event))}
      >
        {children}
      </div>
    </div>
  );
}

function placeOf(event: MouseEvent): number {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

function bottomOf({ xTicks, xName }: Figure): number {
  if (xTicks?.length === 0) return BOTTOM_WITHOUT_AXIS;
  return TICK_LABELS + (xName ? AXIS_NAME : 0);
}

function dataOf({ x, lines }: Figure): uPlot.AlignedData {
  return [[...x], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}

function options(figure: Figure, width: number, height: number, { left, right }: Margins): uPlot.Options {
  const { xRange, xTicks, xName, yRange, yTicks, lines, bands } = figure;
  const { text, grid } = COLOURS[theme.value];
  const axis = { stroke: text, font: FONT, ticks: { show: false }, gap: 4 };
  const hasAxis = xTicks?.length !== 0;
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [TOP, right, hasAxis ? 0 : BOTTOM_WITHOUT_AXIS, 0],
    scales: { x: { time: false, range: [...xRange] }, y: { range: [...yRange] } },
    axes: [
      {
        ...axis,
        show: hasAxis,
        grid: { show: false },
        size: TICK_LABELS,
        ...(xName && { label: xName, labelSize: AXIS_NAME, labelFont: FONT, labelGap: 0 }),
        ...(xTicks ? { splits: () => xTicks.map(({ at }) => at), values: () => xTicks.map((tick) => tick.text) } : { incrs: WHOLE_NUMBERS }),
      },
      {
        ...axis,
        size: left,
        grid: { stroke: grid, width: 1 },
        splits: () => yTicks.map(({ at }) => at),
        values: () => yTicks.map((tick) => tick.text),
      },
    ],
    series: [{}, ...lines.map(series)],
    ...(bands && { bands: bands.map(({ upper, lower, colour }) => ({ series: [upper + 1, lower + 1] as [number, number], fill: colour })) }),
  };
}

const WHOLE_NUMBERS = [1, 2, 5].flatMap((unit) => [1, 10, 100, 1e3, 1e4].map((power) => unit * power)).sort((a, b) => a - b);

function series({ values, colour, width, dash, dots }: Line): uPlot.Series {
  const shown = dots ? values.flatMap((value, index) => (typeof value === "number" ? [index] : [])) : isolated(values);
  return {
    stroke: colour,
    width,
    ...(dash && { dash: [...dash] }),
    ...(dots && { paths: () => null }),
    points: { show: true, filter: () => shown, size: DOT, width: 0, fill: colour, stroke: colour },
  };
}
