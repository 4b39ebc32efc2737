// Paints a matrix onto a canvas, one sharp rectangle per entry, and finds entries by place.

import type { Matrix } from "./model/matrix";
import { pixelOf, type ColourScale } from "./palette";

/** RGBA bytes with one pixel per entry; gaps are left transparent. */
export function pixels(matrix: Matrix, scale: ColourScale): Uint8ClampedArray<ArrayBuffer> {
  const { values, gaps, columns, rows } = matrix;
  const bytes = new Uint8ClampedArray(4 * rows * columns);
  const words = new Uint32Array(bytes.buffer);
  for (let row = 0, index = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1, index += 1) {
      if (!gaps?.[column]) words[index] = pixelOf(scale, values[index] ?? NaN);
    }
  }
  return bytes;
}

/** One pixel per entry; the style sheet scales the canvas without smoothing. */
export function drawHeatmap(canvas: HTMLCanvasElement, matrix: Matrix, scale: ColourScale): void {
  if (matrix.values.length === 0) return;
  if (canvas.width !== matrix.columns || canvas.height !== matrix.rows) {
    canvas.width = matrix.columns;
    canvas.height = matrix.rows;
  }
  // What was drawn is read back only for a file: no graphics card in between.
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context?.putImageData(new ImageData(pixels(matrix, scale), matrix.columns, matrix.rows), 0, 0);
}

export interface Cell {
  readonly row: number;
  readonly column: number;
}

const DIRECTIONS: Readonly<Record<string, Cell>> = {
  ArrowUp: { row: -1, column: 0 },
  ArrowDown: { row: 1, column: 0 },
  ArrowLeft: { row: 0, column: -1 },
  ArrowRight: { row: 0, column: 1 },
};

/** The entry next to a marked one in the direction of an arrow key: the first where none is marked, null at the edge. */
export function cellBeside(matrix: Matrix, marked: Partial<Cell> | null, key: string): Cell | null {
  const direction = DIRECTIONS[key];
  if (!direction || matrix.values.length === 0) return null;
  if (marked?.row === undefined || marked.column === undefined) return { row: 0, column: 0 };
  const row = Math.min(marked.row + direction.row, matrix.rows - 1);
  const column = Math.min(marked.column + direction.column, matrix.columns - 1);
  const isSame = row === marked.row && column === marked.column;
  return row < 0 || column < 0 || isSame ? null : { row, column };
}

/** The entry under a place of the canvas given as shares 0..1 of its width and height. */
export function cellAt(matrix: Matrix, x: number, y: number): Cell | null {
  if (!(x >= 0 && x < 1 && y >= 0 && y < 1)) return null;
  return { row: Math.floor(y * matrix.rows), column: Math.floor(x * matrix.columns) };
}
