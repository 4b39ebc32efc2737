// The probe's own data on the same time axis: input, target, prediction and loss per timestep.

import { useState } from "preact/hooks";
import type { Cell } from "../heatmap";
import { columnName, type ShownSample, type Track } from "../model/activations";
import { exact } from "../model/format";
import { valueAt } from "../model/matrix";
import type { Place } from "../selection";
import { Heatmap } from "./Heatmap";
import { ColourBar } from "./parts";
import { Tooltip } from "./Tooltip";

const ROW_HEIGHT = 8;
const TALLEST = 64;
const SINGLE_ROW = 12;

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

function TrackMap({ track, sample, mark }: Props & { readonly track: Track }) {
  const [pointer, setPointer] = useState<{ cell: Cell; x: number; y: number } | null>(null);
  const { key, matrix, range } = track;
  return (
    <figure class="map track">
      <figcaption>
        <b>{key}</b>
        <span class="meaning">{matrix.rows > 1 ? `${matrix.rows} features` : ""}</span>
        <ColourBar range={range} />
      </figcaption>
      <Heatmap
        matrix={matrix}
        range={range}
        height={matrix.rows === 1 ? SINGLE_ROW : Math.min(TALLEST, Math.max(matrix.rows, matrix.rows * ROW_HEIGHT))}
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
                name: matrix.rows > 1 ? `${key} ${pointer.cell.row}` : key,
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
