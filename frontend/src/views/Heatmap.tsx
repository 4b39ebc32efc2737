// A matrix on a canvas, with the mark of a chosen entry over it.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { cellAt, drawHeatmap, type Cell } from "../heatmap";
import { exact } from "../model/format";
import { extent, type Matrix } from "../model/matrix";
import type { Range } from "../model/scales";
import { colourScale } from "../palette";
import { theme } from "../theme";

/** A row, a column, or both: the lines of the cross-hair. */
export type Mark = Partial<Cell>;

interface Props {
  readonly matrix: Matrix;
  readonly range: Range;
  readonly height: number;
  /** What the picture shows, for those who cannot see it; its extent is added. */
  readonly label: string;
  readonly testId: string;
  readonly mark: Mark | null;
  readonly onHover: (cell: Cell | null, x: number, y: number) => void;
  readonly onPick?: (cell: Cell) => void;
  /** A key pressed together with Shift while this heatmap has the focus; true where it did something. */
  readonly onShiftKey?: (key: string) => boolean;
}

export function Heatmap({ matrix, range, height, label, testId, mark, onHover, onPick, onShiftKey }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scale = useMemo(() => colourScale(range, theme.value), [range, theme.value]);
  useLayoutEffect(() => {
    if (canvas.current) drawHeatmap(canvas.current, matrix, scale);
  }, [matrix, scale]);

  return (
    <div
      class={onPick ? "heatmap pickable" : "heatmap"}
      style={{ height: `${height}px` }}
      data-testid={testId}
      {...(onShiftKey && { tabIndex: 0, role: "group", "aria-label": `${label}: Shift and an arrow key move the pinned cell` })}
      onKeyDown={(event) => {
        if (event.shiftKey && onShiftKey?.(event.key)) event.preventDefault();
      }}
      onPointerMove={(event) => onHover(cellUnder(event, matrix), event.clientX, event.clientY)}
      onPointerLeave={(event) => onHover(null, event.clientX, event.clientY)}
      onClick={(event) => {
        const cell = cellUnder(event, matrix);
        if (cell) onPick?.(cell);
      }}
    >
      <canvas ref={canvas} role="img" aria-label={`${label}, ${described(matrix)}`} />
      {mark && <CrossHair matrix={matrix} mark={mark} />}
    </div>
  );
}

function CrossHair({ matrix, mark }: { readonly matrix: Matrix; readonly mark: Mark }) {
  const share = (index: number, count: number): string => `${(100 * index) / count}%`;
  return (
    <>
      {mark.column !== undefined && (
        <i class="cross column" style={{ left: share(mark.column, matrix.columns), width: share(1, matrix.columns) }} />
      )}
      {mark.row !== undefined && (
        <i class="cross row" style={{ top: share(mark.row, matrix.rows), height: share(1, matrix.rows) }} />
      )}
    </>
  );
}

function cellUnder(event: MouseEvent, matrix: Matrix): Cell | null {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  return cellAt(matrix, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
}

function described(matrix: Matrix): string {
  const ends = extent(matrix);
  const size = `${matrix.rows} rows and ${matrix.columns} columns`;
  return ends ? `${size}, from ${exact(ends[0], matrix.dtype)} to ${exact(ends[1], matrix.dtype)}` : `${size}, no finite value`;
}
