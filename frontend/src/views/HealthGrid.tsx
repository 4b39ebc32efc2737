// The tiles as a grid that keys move through; of many layers, only those in sight are drawn.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { chooseLayer, chooseTile } from "../actions";
import { mostTiles } from "../health";
import type { HealthRow } from "../model/health";
import { rowsInSight, scrollFor } from "../model/lazy";
import { layerId } from "../state";
import { HealthTile } from "./HealthTile";
import { useWidth } from "./hooks";
import { useScroll } from "./scroll";
import { Tooltip, type TooltipContent } from "./Tooltip";

/** A tile and the gap below it, in pixels. */
const HEALTH_ROW = 30;
const GAP = 4;
const COLUMN_WIDTH = 760;
const MOST_COLUMNS = 3;

/** The cell that the Tab key reaches: the layer's name is cell 0, its tiles follow. */
interface Cell {
  readonly row: number;
  readonly cell: number;
}

export interface Tip {
  readonly content: TooltipContent;
  readonly x: number;
  readonly y: number;
}

export function HealthGrid({ rows }: { readonly rows: readonly HealthRow[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const { top, height } = useScroll(frame);
  const [focused, setFocused] = useState<Cell | null>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const moved = useRef(false);
  const columns = columnsFor(rows.length, width);
  const lines = Math.ceil(rows.length / columns);
  const chosen = Math.max(0, rows.findIndex(({ layer }) => layer.id === layerId.value));
  const stop = focused ?? { row: chosen, cell: 0 };
  const sight = rowsInSight(lines, HEALTH_ROW, top, height);
  const first = sight.first * columns;

  const bringIntoSight = (row: number): void => {
    const element = frame.current;
    if (element) element.scrollTop = scrollFor(Math.floor(row / columns), HEALTH_ROW, element.scrollTop, element.clientHeight);
  };
  useLayoutEffect(() => bringIntoSight(chosen), [chosen, columns, height]);
  useLayoutEffect(() => {
    if (!moved.current) return;
    bringIntoSight(stop.row);
    const target = frame.current?.querySelector<HTMLElement>(`[data-cell="${stop.row}.${stop.cell}"]`);
    if (!target) return; // Scrolled to, and drawn the next time.
    moved.current = false;
    target.focus({ preventScroll: true });
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const next = neighbour(rows, columns, stop, event.key);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    moved.current = true;
    setFocused(next);
  };
  return (
    <div class="health" ref={frame} onScroll={() => setTip(null)}>
      <div
        class="health-grid"
        role="grid"
        aria-label="Health of all layers"
        aria-rowcount={rows.length}
        data-testid="health-grid"
        onKeyDown={onKeyDown}
        style={{
          height: gridHeight(rows.length, columns),
          paddingTop: `${sight.first * HEALTH_ROW}px`,
          "--columns": columns,
          "--tiles": mostTiles.value,
        }}
      >
        {rows.slice(first, sight.end * columns).map((row, offset) => (
          <Row
            key={row.layer.id}
            row={row}
            index={first + offset}
            focusable={first + offset === stop.row ? Math.min(stop.cell, row.tiles.length) : -1}
            onFocus={(cell) => setFocused({ row: first + offset, cell })}
            onTip={setTip}
          />
        ))}
      </div>
      {tip && <Tooltip {...tip} />}
    </div>
  );
}

/** Layers side by side in so many pixels. */
export function columnsFor(layers: number, width: number): number {
  return Math.max(1, Math.min(MOST_COLUMNS, layers, Math.floor(width / COLUMN_WIDTH)));
}

/** Of all layers, also of those that are not in sight, in CSS. */
export function gridHeight(layers: number, columns: number): string {
  return `${Math.max(1, Math.ceil(layers / columns)) * HEALTH_ROW - GAP}px`;
}

interface RowProps {
  readonly row: HealthRow;
  readonly index: number;
  /** The cell that the Tab key reaches; -1 where it is in another row. */
  readonly focusable: number;
  readonly onFocus: (cell: number) => void;
  readonly onTip: (tip: Tip | null) => void;
}

function Row({ row: { layer, tiles }, index, focusable, onFocus, onTip }: RowProps) {
  const isChosen = layer.id === layerId.value;
  const at = layer.id.lastIndexOf("/") + 1;
  return (
    <div class={isChosen ? "health-row chosen" : "health-row"} role="row" aria-rowindex={index + 1} data-testid="health-row">
      <div role="rowheader">
        <button
          type="button"
          class="layer-name"
          title={layer.id}
          tabIndex={focusable === 0 ? 0 : -1}
          data-cell={`${index}.0`}
          onFocus={() => onFocus(0)}
          onClick={() => chooseLayer(layer.id)}
        >
          <span>{layer.id.slice(0, at)}</span>
          <b>{layer.id.slice(at)}</b>
        </button>
      </div>
      {tiles.map((tile, position) => (
        <HealthTile
          key={tile.name}
          tile={tile}
          cell={`${index}.${position + 1}`}
          isReachable={focusable === position + 1}
          isChosenLayer={isChosen}
          onFocus={() => onFocus(position + 1)}
          onChoose={() => chooseTile(layer.id, tile.gate)}
          onTip={onTip}
        />
      ))}
      {tiles.length === 0 && (
        <div role="gridcell" class="nothing">
          {layer.gates.length === 0 ? "its gates are not known" : "not logged for this layer"}
        </div>
      )}
    </div>
  );
}

/** The cell that an arrow key leads to; at the end of a row, on to the layer beside it. */
function neighbour(rows: readonly HealthRow[], columns: number, { row, cell }: Cell, key: string): Cell | null {
  const last = rows[row]?.tiles.length ?? 0;
  const inRow = (to: number): Cell => ({ row: to, cell: Math.min(cell, rows[to]?.tiles.length ?? 0) });
  switch (key) {
    case "ArrowLeft":
      return cell > 0 ? { row, cell: Math.min(cell, last) - 1 } : row % columns > 0 ? { row: row - 1, cell: rows[row - 1]?.tiles.length ?? 0 } : { row, cell };
    case "ArrowRight":
      return cell < last ? { row, cell: cell + 1 } : row % columns < columns - 1 && row + 1 < rows.length ? { row: row + 1, cell: 0 } : { row, cell: last };
    case "ArrowUp":
      return inRow(row >= columns ? row - columns : row);
    case "ArrowDown":
      return inRow(row + columns < rows.length ? row + columns : row);
    case "Home":
      return { row, cell: 0 };
    case "End":
      return { row, cell: last };
    default:
      return null;
  }
}
