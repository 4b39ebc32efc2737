// The probe's own data on the same time axis: input, target against prediction, and loss per timestep.

import { useState } from "preact/hooks";
import { pinColumn } from "../actions";
import { columnName, featureCount, featureName, type ShownSample, type Track } from "../model/activations";
import { exact } from "../model/format";
import { valueAt } from "../model/matrix";
import { trackRows, type TrackRow } from "../model/trackRows";
import type { Place } from "../selection";
import { hoverColumn } from "../shown";
import { Heatmap } from "./Heatmap";
import { ColourBar } from "./parts";
import { Tooltip, type TooltipContent } from "./Tooltip";
import { TrackPlot } from "./TrackPlot";

const CAPTION = 14;
const HEIGHTS = { lines: 22, matches: 10, bars: 18 };
const FEATURE = 6;
const TALLEST = 48;

interface Props {
  readonly sample: ShownSample;
  readonly mark: Place | null;
}

interface Pointer {
  readonly row: TrackRow;
  readonly column: number;
  /** Where many features are drawn, the one under the pointer. */
  readonly feature: number;
  readonly x: number;
  readonly y: number;
}

export function Tracks({ sample, mark }: Props) {
  const [pointer, setPointer] = useState<Pointer | null>(null);
  function hover(at: Pointer | null): void {
    hoverColumn(at && at.column);
    setPointer(at);
  }
  return (
    <>
      {trackRows(sample.tracks).map((row) =>
        row.kind === "map" ? (
          <TrackMap key={row.tracks[0].key} track={row.tracks[0]} mark={mark} onHover={(at) => hover(at && { row, ...at })} />
        ) : (
          <TrackPlot
            key={row.tracks[0]?.key}
            row={row}
            height={HEIGHTS[row.kind]}
            mark={mark}
            onHover={(at) => hover(at && { row, feature: 0, ...at })}
          />
        ),
      )}
      {pointer && <Tooltip content={contentAt(sample, pointer)} x={pointer.x} y={pointer.y} />}
    </>
  );
}

/** The room that all tracks of a sample take. */
export function tracksHeight(sample: ShownSample): number {
  return trackRows(sample.tracks).reduce((sum, row) => sum + CAPTION + heightOf(row), 0);
}

function heightOf(row: TrackRow): number {
  return row.kind === "map" ? mapHeight(row.tracks[0]) : HEIGHTS[row.kind];
}

function mapHeight({ matrix: { rows } }: Track): number {
  return Math.max(rows, Math.min(TALLEST, rows * FEATURE));
}

interface MapProps {
  readonly track: Track;
  readonly mark: Place | null;
  readonly onHover: (at: Omit<Pointer, "row"> | null) => void;
}

function TrackMap({ track, mark, onHover }: MapProps) {
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
        height={mapHeight(track)}
        label={`${key}, features by timesteps`}
        testId={`track-${key}`}
        mark={mark && { column: mark.column }}
        onHover={(cell, x, y) => onHover(cell && { column: cell.column, feature: cell.row, x, y })}
        onPick={({ column }) => pinColumn(column)}
      />
    </figure>
  );
}

function contentAt(sample: ShownSample, { row, column, feature }: Pointer): TooltipContent {
  return {
    title: columnName(sample, column),
    lines: row.tracks.map((track) => ({
      key: `track-${track.key}`,
      name: featureName(track, feature),
      value: track.matrix.gaps?.[column] ? "masked" : exact(valueAt(track.matrix, feature, column), track.matrix.dtype),
    })),
    more: row.kind === "matches" && row.matches[column] !== null ? [row.matches[column] ? "They match." : "They do not match."] : [],
  };
}
