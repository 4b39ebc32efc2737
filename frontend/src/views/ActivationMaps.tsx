// The heatmaps of one sample on one time axis, with a cross-hair over all of them.

import { useRef, useState } from "preact/hooks";
import { pin } from "../actions";
import { cellBeside, type Cell } from "../heatmap";
import type { ShownRow, ShownSample } from "../model/activations";
import { heatmapHeight, heatmapsPerLine, widestHeatmap } from "../model/layout";
import { countNotFinite } from "../model/matrix";
import { difference, units } from "../maps";
import { ALL_GATES, asked, type Place } from "../selection";
import { hovered } from "../shown";
import { EquationPanel } from "./EquationPanel";
import { Heatmap, type Mark } from "./Heatmap";
import { useFrameHeight, useWidth } from "./hooks";
import { contentAt } from "./mapContent";
import { MapsTable } from "./MapsTable";
import { MapTools } from "./MapTools";
import { ColourBar, Swatch } from "./parts";
import { PinnedValues } from "./PinnedValues";
import { TimeAxis } from "./TimeAxis";
import { Tooltip } from "./Tooltip";
import { Tracks, tracksHeight } from "./Tracks";
import { SaturationPanel } from "./SaturationPanel";
import { SurvivalPanel } from "./SurvivalPanel";
import { UnitLines, unitsWithLines } from "./UnitLines";

/** What stands above the heatmaps, so that a frame shows them without scrolling; tracks not counted. */
const ROOM_ABOVE = 252;
const ROOM_FOR_PINNED = 34;
/** The line above each heatmap, and the gap. */
const CAPTION = 24;

interface Props {
  /** As it is drawn. */
  readonly sample: ShownSample;
  /** The values of all gates and states of the chosen sample. */
  readonly values: ShownSample;
  readonly gate: string;
}

interface Pointer {
  readonly x: number;
  readonly y: number;
  readonly key: string;
}

export function ActivationMaps({ sample, values, gate }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const frameHeight = useFrameHeight();
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const rows = gate === ALL_GATES ? sample.rows : sample.rows.filter(({ key }) => key === gate);
  const perLine = heatmapsPerLine(width, sample.columns, rows.length);
  const lines = Math.ceil(rows.length / perLine);
  const above = ROOM_ABOVE + tracksHeight(sample) + (asked.pinned.value ? ROOM_FOR_PINNED : 0);
  const available = (frameHeight - above) / lines - CAPTION;
  const place = hovered.value ?? asked.pinned.value;
  const looked = gateLookedAt(values, gate);

  function hover(at: Place | null, x: number, y: number, key = ""): void {
    hovered.value = at;
    setPointer(at && { x, y, key });
  }

  /** Moves the pinned cell by an arrow key, in the place of a pointer. */
  function movePinned(row: ShownRow, key: string): boolean {
    const from = asked.pinned.value ?? hovered.value;
    const cell = cellBeside(row.matrix, from && markOf(row, from), key);
    if (!cell) return false;
    hovered.value = null;
    setPointer(null);
    asked.pinned.value = placeOf(row, cell);
    return true;
  }

  return (
    <>
      <MapTools />
      {asked.pinned.value && <PinnedValues sample={difference.value?.sample ?? values} difference={difference.value} place={asked.pinned.value} />}
      <div class="beside">
        <div class="maps" ref={container} style={{ gridTemplateColumns: `repeat(${perLine}, minmax(0, ${widestHeatmap(sample.columns)}px))` }}>
          {rows.slice(0, perLine).map((row, index) => (
            <div key={row.key} class="above">
              {index === 0 && <Tracks sample={sample} mark={place} />}
              <TimeAxis sample={sample} />
            </div>
          ))}
          {rows.map((row) => (
            <figure key={row.key} class="map">
              <figcaption>
                <Swatch gate={row.key} />
                <b>{row.name}</b>
                <span class="meaning" title={row.meaning}>
                  {row.meaning}
                </span>
                <NotFinite row={row} />
                <ColourBar range={row.range} />
              </figcaption>
              <Heatmap
                matrix={row.matrix}
                range={row.range}
                height={heatmapHeight(available, row.indices.length)}
                label={`${row.name}, units by timesteps`}
                testId={`map-${row.key}`}
                mark={place && markOf(row, place)}
                onHover={(cell, x, y) => hover(cell && placeOf(row, cell), x, y, row.key)}
                onPick={(cell) => pin(placeOf(row, cell))}
                onShiftKey={(key) => movePinned(row, key)}
              />
            </figure>
          ))}
          {unitsWithLines().map((unit) => (
            <UnitLines key={unit} sample={{ ...values, columns: sample.columns }} unit={unit} mark={place} onHover={hover} />
          ))}
        </div>
        <aside>
          {asked.pinned.value && <EquationPanel sample={values} place={asked.pinned.value} />}
          {looked && units.value && <SaturationPanel row={looked} numbers={units.value} />}
          {units.value && <SurvivalPanel numbers={units.value} timesteps={sample.timesteps} />}
          {!asked.pinned.value && <EquationPanel sample={values} place={null} />}
        </aside>
      </div>
      <MapsTable sample={{ ...sample, rows }} />
      {pointer && hovered.value && (
        <Tooltip content={contentAt(sample, difference.value, hovered.value, pointer.key)} x={pointer.x} y={pointer.y} />
      )}
    </>
  );
}

function NotFinite({ row }: { readonly row: ShownRow }) {
  const number = countNotFinite(row.matrix);
  return number === 0 ? null : <span class="not-finite">{number} NaN or Inf</span>;
}

/** The gate or state whose units are looked at: the chosen one, or the first. */
function gateLookedAt({ rows }: ShownSample, gate: string): ShownRow | undefined {
  return rows.find(({ key }) => key === gate) ?? rows[0];
}

function placeOf(row: ShownRow, cell: Cell): Place {
  return { unit: row.indices[cell.row] ?? cell.row, column: cell.column, projected: row.projected };
}

function markOf(row: ShownRow, place: Place): Mark {
  const index = row.projected === place.projected ? row.indices.indexOf(place.unit) : -1;
  return { column: place.column, row: index < 0 ? undefined : index };
}
