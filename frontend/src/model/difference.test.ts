// Tests differences of samples that keep other units, mask other timesteps or are of another length.

import { expect, it } from "vitest";
import type { Tensor } from "../safetensors";
import { shownSample, type ShownSample } from "./activations";
import { differenceOf, otherLabel, subtractedOf, subtractedText, valuesOf, type Difference } from "./difference";
import { layer, tensor } from "./testing";

interface Made {
  readonly units: readonly number[];
  readonly mask: readonly number[];
  /** Of each timestep, of each unit. */
  readonly forget: readonly number[];
  readonly state?: readonly number[];
  readonly block?: number;
  readonly labels?: readonly string[];
}

function sample({ units, mask, forget, state = forget, block = 1, labels }: Made): ShownSample {
  const columns = mask.length;
  const shape = [1, columns, units.length];
  const tensors = new Map<string, Tensor>([
    ["mask", tensor([1, columns], mask, "U8")],
    ["activation/forget", tensor(shape, forget)],
    ["cell_state", tensor(shape, state)],
  ]);
  const of = layer({ gates: ["forget"], units: 8, recurrent_size: 8 });
  const header = { step: 0, layer: of, units, samples: 1, timesteps: columns * block, block, sample_names: null, time_labels: labels ? [labels] : null };
  return shownSample({ header, tensors }, 0, undefined);
}

function made(from: ShownSample, subtracted: ShownSample): Difference {
  const found = differenceOf(from, subtracted, "training step 9 − training step 1");
  if (typeof found === "string") throw new Error(found);
  return found;
}

const ONE = sample({ units: [1, 5], mask: [1, 1, 0], forget: [0.5, 0.75, 0.25, 1, 0, 0], state: [4, 8, 0, 0, 0, 0], labels: ["a", "b", "c"] });

it("subtracts the units that both keep by their true index; masked in one is a gap", () => {
  const other = sample({ units: [5, 7], mask: [0, 1, 1], forget: [0, 0, 0.5, 0.125, 0, 0], labels: ["a", "x", "c"] });
  const found = made(ONE, other);
  const [forget] = found.sample.rows;
  expect(forget?.indices).toEqual([5]);
  expect(forget?.matrix.gaps).toEqual([true, false, true]);
  expect(Array.from(forget?.matrix.values ?? [])).toEqual([NaN, 0.5, NaN]);
  expect(forget?.meaning).toBe("training step 9 − training step 1");
  expect(valuesOf(found, "forget", 5, 1)).toEqual([1, 0.5]);
  expect(found.facts).toEqual(["1 of these 2 units are in both"]);
  expect([otherLabel(found, 0), otherLabel(found, 1)]).toEqual([null, "minus timestep 1 “x”"]);
});

it("has one range for the gates and another for what has no bounds, both around zero", () => {
  const found = made(ONE, sample({ units: [1, 5], mask: [1, 1, 1], forget: [0, 0, 0, 0, 0, 0] }));
  const ranges = found.sample.rows.map(({ key, range }) => [key, range.ramp, range.low, range.high]);
  expect(ranges).toEqual([
    ["forget", "diverging", -1, 1],
    ["cell_state", "diverging", -7.9, 7.9],
  ]);
});

it("compares the timesteps that both have", () => {
  const found = made(ONE, sample({ units: [1, 5], mask: [1, 1], forget: [0.25, 0, 0, 0] }));
  expect([found.sample.columns, found.sample.rows[0]?.matrix.columns]).toEqual([2, 2]);
  expect(Array.from(found.sample.rows[0]?.matrix.values ?? [])).toEqual([0.25, 0.25, 0.75, 1]);
  expect(found.facts).toEqual(["the first 2 timesteps, which both have"]);
});

it("says why two pictures cannot be subtracted", () => {
  const others = sample({ units: [2, 3], mask: [1, 1, 1], forget: [0, 0, 0, 0, 0, 0] });
  expect(differenceOf(ONE, others, "")).toContain("no unit in common");
  const blocks = sample({ units: [1, 5], mask: [1, 1, 1], forget: [0, 0, 0, 0, 0, 0], block: 4 });
  expect(differenceOf(ONE, blocks, "")).toBe("One column stands for 1 timestep here and for 4 timesteps there: they cannot be subtracted.");
});

it("is written into the URL and read back", () => {
  for (const text of ["step.100", "sample.0", ""]) expect(subtractedText(subtractedOf(text))).toBe(text);
  expect(subtractedOf("step.-1")).toBeNull();
});
