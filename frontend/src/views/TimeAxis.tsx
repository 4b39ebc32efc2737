// The labels of the time axis: the probe's own words, or the numbers of the timesteps.

import { useRef } from "preact/hooks";
import type { TimeColumns } from "../model/activations";
import { characterWidthFor, fittingLabels, numberLabels } from "../model/labels";
import { useWidth } from "./hooks";

/** Of the monospaced font below, at its usual size. */
const CHARACTER_WIDTH = 6.05;
const FONT_SIZE = 10;
const HEIGHT = 14;

export function TimeAxis({ sample }: { readonly sample: TimeColumns }) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const columnWidth = width / Math.max(sample.columns, 1);
  const characterWidth = characterWidthFor(sample.labels ?? [], columnWidth, CHARACTER_WIDTH);
  const labels = sample.labels
    ? fittingLabels(sample.labels.slice(0, sample.columns), columnWidth, characterWidth)
    : numberLabels(sample.columns, sample.block, columnWidth, CHARACTER_WIDTH);
  return (
    <div class="time-axis" ref={container} data-testid="time-axis">
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true" style={{ fontSize: `${(FONT_SIZE * characterWidth) / CHARACTER_WIDTH}px` }}>
          {labels.map(({ column, text, x }) => (
            <text key={column} x={x} y={HEIGHT - 4} text-anchor="middle">
              {text}
            </text>
          ))}
        </svg>
      )}
    </div>
  );
}
