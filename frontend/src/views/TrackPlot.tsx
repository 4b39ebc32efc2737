// One row of the probe's own data: numbers as lines, classes as marks where they match or do not, the loss as bars.

import { pinColumn } from "../actions";
import type { Track } from "../model/activations";
import { short } from "../model/format";
import { gapSpans } from "../model/gradients";
import { barPath, markPath, notFiniteColumns, trackValues, type TrackRow } from "../model/trackRows";
import { stepPath } from "../model/unitLines";
import type { Place } from "../selection";

/** Of the height of the row: a match is low and grey, so that what does not match stands out. */
const MATCH_TOP = 0.7;

type PlotRow = Exclude<TrackRow, { kind: "map" }>;

interface Props {
  readonly row: PlotRow;
  readonly height: number;
  readonly mark: Place | null;
  readonly onHover: (at: { readonly column: number; readonly x: number; readonly y: number } | null) => void;
}

export function TrackPlot({ row, height, mark, onHover }: Props) {
  const { columns, gaps } = (row.tracks[0] as Track).matrix;
  const columnOf = (event: MouseEvent): number => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(columns - 1, Math.floor(((event.clientX - box.left) / box.width) * columns)));
  };
  return (
    <figure class="map track">
      <figcaption>
        <Caption row={row} />
      </figcaption>
      <div
        class="plot track-plot"
        style={{ height: `${height}px` }}
        data-testid={`track-${row.tracks.map(({ key }) => key).join("-")}`}
        onPointerMove={(event) => onHover({ column: columnOf(event), x: event.clientX, y: event.clientY })}
        onPointerLeave={() => onHover(null)}
        onClick={(event) => pinColumn(columnOf(event))}
      >
        {gapSpans(gaps).map(([first, end]) => (
          <i key={first} class="gap" style={{ left: `${(100 * first) / columns}%`, width: `${(100 * (end - first)) / columns}%` }} />
        ))}
        <svg viewBox={`0 0 ${columns} 1`} preserveAspectRatio="none" role="img" aria-label={described(row)}>
          <Shapes row={row} />
          <path class="track-missing" d={markPath(notFiniteColumns(row.tracks), 0)} />
        </svg>
        {mark && mark.column < columns && <i class="cross column" style={{ left: `${(100 * mark.column) / columns}%`, width: `${100 / columns}%` }} />}
      </div>
    </figure>
  );
}

function Shapes({ row }: { readonly row: PlotRow }) {
  switch (row.kind) {
    case "lines":
      return (
        <>
          {row.tracks.map((track) => (
            <path key={track.key} class={`track-line ${track.key}`} d={stepPath(trackValues(track), row.range)} />
          ))}
        </>
      );
    case "bars":
      return <path class="track-bar" d={barPath(trackValues(row.tracks[0]), row.range)} />;
    case "matches":
      return (
        <>
          <path class="track-match" d={markPath(columnsWith(row.matches, true), MATCH_TOP)} />
          <path class="track-bar" d={markPath(columnsWith(row.matches, false), 0)} />
        </>
      );
  }
}

function Caption({ row }: { readonly row: PlotRow }) {
  const missing = notFiniteColumns(row.tracks).length;
  return (
    <>
      {row.kind === "matches" ? (
        <b>prediction against target</b>
      ) : (
        row.tracks.map(({ key }) => (
          <span key={key} class="track-name">
            {row.tracks.length > 1 && <i class={`line-sample ${key}`} />}
            <b>{key}</b>
          </span>
        ))
      )}
      <span class="meaning">{row.kind === "matches" ? matchSentence(row.matches) : row.kind === "bars" ? "of each timestep" : ""}</span>
      {missing > 0 && <span class="not-finite">{missing} NaN or Inf</span>}
      {row.kind === "matches" ? (
        <span class="colour-bar">
          <i class="match-key" /> matches <i class="mismatch-key" /> does not
        </span>
      ) : (
        <span class="colour-bar">{`${short(row.range[0])} to ${short(row.range[1])}`}</span>
      )}
    </>
  );
}

function columnsWith(matches: readonly (boolean | null)[], wanted: boolean): number[] {
  return matches.flatMap((match, column) => (match === wanted ? [column] : []));
}

function matchSentence(matches: readonly (boolean | null)[]): string {
  return `${columnsWith(matches, true).length} of ${matches.filter((match) => match !== null).length} match`;
}

/** For those who cannot see the row. */
function described(row: PlotRow): string {
  if (row.kind === "matches") return `prediction against target: ${matchSentence(row.matches)}`;
  const spans = row.tracks.map((track) => {
    const finite = trackValues(track).filter(Number.isFinite);
    return finite.length === 0 ? `${track.key} without a finite value` : `${track.key} from ${short(Math.min(...finite))} to ${short(Math.max(...finite))}`;
  });
  return `${spans.join(", ")}, over timesteps`;
}
