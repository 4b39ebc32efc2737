// Tests that all pictures have one order of units, and that every row keeps its own values.

import { expect, it } from "vitest";
import type { ActivationsHeader } from "../api";
import { shownSample, valueAtUnit } from "./activations";
import { layer, tensor } from "./testing";
import { ordered } from "./unitOrder";
import { unitNumbers } from "./units";

const header: ActivationsHeader = {
  step: 5,
  layer: layer({ units: 6, recurrent_size: 6 }),
  units: [1, 3, 5],
  samples: 1,
  timesteps: 3,
  block: 1,
  sample_names: null,
  time_labels: null,
  all_units: [0, 1, 2, 3, 4, 5],
  unit_rows: ["activation/forget", "hidden_state"],
  unit_columns: ["mean", "std", "nearly_closed", "nearly_open"],
};
// Of unit 5 the masked last timestep is not counted: means of forget are 0.25, 0.75, 0.5.
const forget = [0.25, 0.5, 0.75, 0.25, 1, 0.25, 0, 0, 9];
const hidden = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0, 0, 0];
const snapshot = {
  header,
  tensors: new Map([
    ["activation/forget", tensor([1, 3, 3], forget, "F16")],
    ["hidden_state", tensor([1, 3, 3], hidden, "F16")],
    ["mask", tensor([1, 3], [1, 1, 0], "U8")],
    ["survival", tensor([6], [1, 2, 3, 9, 5, 9])],
    ["survival_censored", tensor([6], [0, 0, 0, 0, 0, 1], "U8")],
    ["unit_statistics", tensor([2, 4, 6], Array.from({ length: 48 }, (_, index) => index))],
  ]),
};
const sample = shownSample(snapshot, 0, undefined);
const numbers = unitNumbers(snapshot);

it("sorts units by mean and by memory, in all rows alike", () => {
  const byMean = ordered(sample, "mean", "all", numbers);
  expect(byMean.rows.map(({ indices }) => indices)).toEqual([
    [3, 5, 1],
    [3, 5, 1],
  ]);
  expect(Array.from(byMean.rows[0]?.matrix.values.slice(0, 2) ?? [])).toEqual([0.5, 1]);
  expect(ordered(sample, "mean", "hidden_state", numbers).rows[0]?.indices).toEqual([5, 3, 1]);
  // Both remembered for 9 timesteps; unit 5 had not forgotten then.
  expect(ordered(sample, "memory", "all", numbers).rows[0]?.indices).toEqual([5, 3, 1]);
  expect(ordered(sample, "index", "all", numbers)).toBe(sample);
});

it("keeps the values of each unit", () => {
  const [row, plain] = [ordered(sample, "mean", "all", numbers).rows[1], sample.rows[1]];
  if (!row || !plain) throw new Error("two rows are expected");
  for (const unit of header.units) expect(valueAtUnit(row, unit, 1)).toBe(valueAtUnit(plain, unit, 1));
});

it("puts units without a number below the others", () => {
  const unknown = { ...numbers, survival: [1, NaN, 3, 2, 5, 9] };
  expect(ordered(sample, "memory", "all", unknown).rows[0]?.indices).toEqual([5, 3, 1]);
});

it("reads the numbers of all units", () => {
  expect(numbers.of("hidden_state", "nearly_open")).toEqual([42, 43, 44, 45, 46, 47]);
  expect(numbers.of("activation/forget", "mean")).toEqual([0, 1, 2, 3, 4, 5]);
  expect(numbers.of("cell_state", "mean")).toBeNull();
  expect(numbers.censored).toEqual([false, false, false, false, false, true]);
});
