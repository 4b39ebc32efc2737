// A line without axes, drawn by uPlot.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../theme";

interface Props {
  /** Places 0..1 on the width, upwards. */
  readonly x: readonly number[];
  /** NaN is a gap. */
  readonly y: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly label: string;
}

const COLOURS = { light: "#5f6368", dark: "#c4c7cc" };

export function LineChart({ x, y, width, height, label }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const data = JSON.stringify([x, y]);
  useEffect(() => {
    if (!container.current || width === 0 || x.length === 0) return undefined;
    const values = y.map((value) => (Number.isFinite(value) ? value : null));
    const plot = new uPlot(options(width, height), [[...x], values], container.current);
    return () => plot.destroy();
  }, [data, width, height, theme.value]);
  return <div ref={container} role="img" aria-label={label} style={{ height: `${height}px` }} />;
}

function options(width: number, height: number): uPlot.Options {
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [4, 0, 4, 0],
    axes: [{ show: false }, { show: false }],
    scales: { x: { time: false, range: [0, 1] } },
    series: [{}, { stroke: COLOURS[theme.value], width: 1.25, points: { show: false } }],
  };
}
