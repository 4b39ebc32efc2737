// Statistics over training steps, looked up by the names of rows and columns.

import type { Series } from "../api";
import type { Payload } from "../safetensors";
import { positionAt } from "./steps";

/** Counts below the bounds, in 32 bins of equal width between them, and above. */
export interface Histogram {
  readonly counts: readonly number[];
  readonly low: number;
  readonly high: number;
}

export interface Records {
  readonly header: Series;
  readonly steps: readonly number[];
  /** One statistic of one row of the record at a position; NaN where there is no such row or column. */
  value(position: number, row: string, column: string): number;
  /** What was counted in a row of the record at a position; undefined where there is no such row. */
  histogram(position: number, row: string): Histogram | undefined;
  /** One statistic of one row at each step; all NaN where there is no such row or column. */
  series(row: string, column: string): number[];
  /** One column that belongs to the whole record, such as "loss". */
  recordSeries(column: string): number[];
  /** One statistic at the record of that step, or the last one before it. */
  at(step: number, row: string, column: string): number;
  /** The same for a column that belongs to the whole record. */
  recordAt(step: number, column: string): number;
}

export function records({ header, tensors }: Payload<Series>): Records {
  const steps = Array.from(tensors.get("steps")?.values ?? []);
  const statistics = tensors.get("statistics")?.values ?? [];
  const perRecord = tensors.get("record")?.values ?? [];
  const { rows, columns, record_columns: recordColumns } = header;

  function value(position: number, row: string, column: string): number {
    const [r, c] = [rows.indexOf(row), columns.indexOf(column)];
    if (r < 0 || c < 0) return NaN;
    return statistics[(position * rows.length + r) * columns.length + c] ?? NaN;
  }

  function histogram(position: number, row: string): Histogram | undefined {
    const r = rows.indexOf(row);
    const [all, bounds] = [tensors.get("histogram"), tensors.get("bounds")];
    const bins = all?.shape[2];
    if (r < 0 || !all || !bounds || bins === undefined) return undefined;
    const place = position * rows.length + r;
    const counts = Array.from(all.values.slice(place * bins, (place + 1) * bins), Number);
    return { counts, low: bounds.values[2 * place] ?? NaN, high: bounds.values[2 * place + 1] ?? NaN };
  }

  function recordValue(position: number, column: string): number {
    const at = recordColumns.indexOf(column);
    return at < 0 ? NaN : (perRecord[position * recordColumns.length + at] ?? NaN);
  }

  return {
    header,
    steps,
    value,
    histogram,
    series: (row, column) => steps.map((_, position) => value(position, row, column)),
    recordSeries: (column) => steps.map((_, position) => recordValue(position, column)),
    at: (step, row, column) => value(positionAt(steps, step), row, column),
    recordAt: (step, column) => recordValue(positionAt(steps, step), column),
  };
}

/** Per step the larger of |p1| and |p99| over the rows that are asked for. */
export function magnitudes(data: Records, wanted: (row: string) => boolean): number[] {
  const rows = data.header.rows.filter(wanted);
  const lists = rows.flatMap((row) => [data.series(row, "p1"), data.series(row, "p99")]);
  return data.steps.map((_, position) => Math.max(0, ...lists.map((list) => Math.abs(list[position] ?? NaN)).filter(Number.isFinite)));
}
