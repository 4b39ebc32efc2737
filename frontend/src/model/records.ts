// Statistics over training steps, looked up by the names of rows and columns.

import type { Series } from "../api";
import type { Payload } from "../safetensors";
import { positionAt } from "./steps";

export interface Records {
  readonly header: Series;
  readonly steps: readonly number[];
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

  function recordValue(position: number, column: string): number {
    const at = recordColumns.indexOf(column);
    return at < 0 ? NaN : (perRecord[position * recordColumns.length + at] ?? NaN);
  }

  return {
    header,
    steps,
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
