// The probe's own data on the same time axis: input, target, prediction and loss per timestep.

import { useState } from "preact/hooks";
import type { Cell } from "../heatmap";
import { columnName, featureCount, featureName, type ShownSample, type Track } from "../model/activations";
import { exact } from "../model/format";
import { valueAt, type Matrix } from "../model/matrix";
import type { Place } from "../selection";
import { Heatmap } from "./Heatmap";
import { ColourBar } from "./parts";
import { Tooltip } from "./Tooltip";

const CAPTION = 14;
const SINGLE_ROW = 9;
const FEATURE = 6;
const TALLEST = 48;

interface Props {
  readonly sample: ShownSample;
  readonly mark: Place | null;
}

export function Tracks({ sample, mark }: Props) {
  return (
    <>
      {sample.tracks.map((track) => (
        <TrackMap key={track.key} track={track} sample={sample} mark={mark} />
      ))}
    </>
  );
}

/** The room that all tracks of a sample take. */
export function tracksHeight(sample: ShownSample): number {
  return sample.tracks.reduce((sum, { matrix }) => sum + CAPTION + heightOf(matrix), 0);
}

function heightOf({ rows }: Matrix): number {
  return rows === 1 ? SINGLE_ROW : Math.max(rows, Math.min(TALLEST, rows * FEATURE));
}

function TrackMap({ track, sample, mark }: Props & { readonly track: Track }) {
  const [pointer, setPointer] = useState<{ cell: Cell; x: number; y: number } | null>(null);
  const { key, matrix, range } = track;
  return (
    <figure class="map track">
      <figcaption>
        <b>{key}</b>
        <span class="meaning">{featureCount(track)}</span>
        <ColourBar range={range} />
      </figcaption>
      <Heatmap
        matrix={matrix}
        range={range}
        height={heightOf(matrix)}
        label={`${key}, features by timesteps`}
        testId={`track-${key}`}
        mark={mark && { column: mark.column }}
        onHover={(cell, x, y) => setPointer(cell && { cell, x, y })}
      />
      {pointer && (
        <Tooltip
          content={{
            title: columnName(sample, pointer.cell.column),
            lines: [
              {
                key,
                name: featureName(track, pointer.cell.row),
                value: exact(valueAt(matrix, pointer.cell.row, pointer.cell.column), matrix.dtype),
              },
            ],
          }}
          x={pointer.x}
          y={pointer.y}
        />
      )}
    </figure>
  );
}
