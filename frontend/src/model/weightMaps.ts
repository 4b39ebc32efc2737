// What the weights panel draws: values, or the difference of two snapshots, on one shared range.

import type { WeightsHeader } from "../api";
import type { Payload } from "../safetensors";
import { percent, short } from "./format";
import { difference } from "./matrix";
import { magnitudes, type Records } from "./records";
import { rangeOverSteps, robustMagnitude } from "./range";
import { symmetric, type Range } from "./scales";
import { weightColumns, type WeightBlock, type WeightColumn } from "./weights";

type Snapshot = Payload<WeightsHeader>;

/** The columns as values, or as now - before. Both snapshots hold the same entries. */
export function shownColumns(now: Snapshot, before: Snapshot | undefined): WeightColumn[] {
  const columns = weightColumns(now.header, now.tensors);
  if (!before) return columns;
  const old = new Map(blocksOf(weightColumns(before.header, before.tensors)).map((block) => [block.array, block]));
  return columns.map((column) => ({
    ...column,
    blocks: column.blocks.flatMap((block) => {
      const then = old.get(block.array);
      return then ? [{ ...block, matrix: difference(block.matrix, then.matrix) }] : [];
    }),
  }));
}

/** Those of the chosen gate; all of them where there are none of it. */
export function drawnColumns(columns: readonly WeightColumn[], gate: string): readonly WeightColumn[] {
  const chosen = columns.filter(({ key }) => key === gate);
  return chosen.length > 0 ? chosen : columns;
}

/** For values one range for all gates and training steps, for a change that of what is shown. */
export function sharedRange(columns: readonly WeightColumn[], statistics: Records | undefined): Range {
  const overSteps = statistics ? rangeOverSteps(magnitudes(statistics, isMatrix)) : 0;
  if (overSteps > 0) return symmetric(overSteps);
  const blocks = blocksOf(columns);
  const matrices = blocks.filter(({ array }) => isMatrix(array));
  const values = (matrices.length > 0 ? matrices : blocks).flatMap(({ matrix }) => Array.from(matrix.values));
  return symmetric(robustMagnitude(values));
}

/** The number below a block: how large it is, or how much it changed. */
export function blockNumber(block: WeightBlock, mode: string, step: number, statistics: Records | undefined): string {
  const at = (column: string): number => statistics?.at(step, block.array, column) ?? NaN;
  const said = (text: string, value: number, written: (value: number) => string): string =>
    Number.isNaN(value) ? "" : `${text} ${written(value)}`;
  if (mode === "start") return said("changed", at("change_since_start"), percent);
  if (mode === "previous") return said("since previous", at("change_since_previous"), percent);
  if (block.part === "recurrent_kernel") return said("spectral norm", at("spectral_norm"), short);
  if (block.matrix.rows === 1) return said("mean", at("mean"), short);
  return said("norm", at("norm"), short);
}

export function blocksOf(columns: readonly WeightColumn[]): WeightBlock[] {
  return columns.flatMap(({ blocks }) => blocks);
}

/** A bias may be far from the kernels and would set the range for them. */
function isMatrix(array: string): boolean {
  return /^(kernel|recurrent_kernel|projection|weights)(\/|$)/.test(array);
}
