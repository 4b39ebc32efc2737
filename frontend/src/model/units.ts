// The numbers of single units over all samples of the probe, also of units whose timesteps are not kept.

import type { ActivationsHeader } from "../api";
import type { Payload } from "../safetensors";

export interface UnitNumbers {
  /** True indices; the lists below have their order. */
  readonly units: readonly number[];
  /** Timesteps until half is forgotten; null for cells without a gate that keeps. */
  readonly survival: readonly number[] | null;
  /** True where the sequence ended before that, so that the true number is larger. */
  readonly censored: readonly boolean[];
  /** "mean", "std", "nearly_closed" or "nearly_open" of a row of the arrays; null where there is none. */
  of(row: string, column: string): number[] | null;
}

export function unitNumbers({ header, tensors }: Payload<ActivationsHeader>): UnitNumbers {
  const { all_units: units = [], unit_rows: rows = [], unit_columns: columns = [] } = header;
  const statistics = tensors.get("unit_statistics")?.values ?? [];
  const survival = tensors.get("survival");
  const censored = tensors.get("survival_censored")?.values ?? [];
  return {
    units,
    survival: survival ? Array.from(survival.values) : null,
    censored: units.map((_, index) => censored[index] === 1),
    of: (row, column) => {
      const [r, c] = [rows.indexOf(row), columns.indexOf(column)];
      if (r < 0 || c < 0) return null;
      const start = (r * columns.length + c) * units.length;
      return units.map((_, index) => statistics[start + index] ?? NaN);
    },
  };
}
