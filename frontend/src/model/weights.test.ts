// Tests the columns and blocks of weights, their differences and numbers.

import { expect, it } from "vitest";
import type { WeightsHeader } from "../api";
import { sameEntries, weightColumns } from "./weights";
import { blockNumber, sharedRange, shownColumns } from "./weightMaps";
import { layer, tensor } from "./testing";

const header: WeightsHeader = { step: 9, layer: layer(), units: [0, 8], inputs: [1, 2, 5], recurrent_inputs: [0, 8] };

function snapshot(shift: number, changes: Partial<WeightsHeader> = {}) {
  const kernel = [1, 2, 3, 4, 5, 6].map((value) => value + shift);
  return {
    header: { ...header, ...changes },
    tensors: new Map([
      ["kernel/forget", tensor([3, 2], kernel)],
      ["recurrent_kernel/forget", tensor([2, 2], [0, 1, 2, 3])],
      ["bias/forget", tensor([2], [100, 100])],
      ["projection", tensor([2, 2], [0, 0, 0, 9])],
    ]),
  };
}

it("makes one column per gate, and one for the projection", () => {
  const { tensors } = snapshot(0);
  const columns = weightColumns(header, tensors);
  expect(columns.map(({ key, blocks }) => [key, blocks.map(({ array, label, size }) => [array, label, size])])).toEqual([
    [
      "forget",
      [
        ["kernel/forget", "kernel", "3 × 2"],
        ["recurrent_kernel/forget", "recurrent kernel", "2 × 2"],
        ["bias/forget", "bias", "2"],
      ],
    ],
    ["projection", [["projection", "projection", "2 × 2"]]],
  ]);
});

it("says by true index what an entry is", () => {
  const [forget, projection] = weightColumns(header, snapshot(0).tensors);
  expect(forget?.blocks.map(({ place }) => place(0, 1))).toEqual(["input 1 → unit 8", "hidden state 0 → unit 8", "unit 8"]);
  expect(projection?.blocks[0]?.place(1, 0)).toBe("unit 8 → hidden state 0");
});

it("shows an unknown cell's weights by their own names", () => {
  const unknown = { ...header, layer: layer({ cell: "unknown", gates: [] }) };
  const columns = weightColumns(unknown, new Map([["weights/W_h", tensor([2, 3], [1, 2, 3, 4, 5, 6])]]));
  expect(columns.map(({ name, blocks }) => [name, blocks[0]?.size])).toEqual([["W_h", "2 × 3"]]);
});

it("subtracts the earlier picture where both hold the same entries", () => {
  const [forget] = shownColumns(snapshot(0.5), snapshot(0));
  expect(Array.from(forget?.blocks[0]?.matrix.values ?? [])).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
  expect(Array.from(forget?.blocks[2]?.matrix.values ?? [])).toEqual([0, 0]);
  expect(sameEntries(header, { ...header, step: 0 })).toBe(true);
  expect(sameEntries(header, { ...header, units: [0, 9] })).toBe(false);
  expect(sameEntries(header, { ...header, layer: layer({ units: 3 }) })).toBe(false);
});

it("does not let a bias set the range of the kernels", () => {
  const { high } = sharedRange(weightColumns(header, snapshot(0).tensors), undefined);
  expect(high).toBeGreaterThan(8);
  expect(high).toBeLessThan(10);
});

it("prints nothing below a block whose number is not known", () => {
  const block = weightColumns(header, snapshot(0).tensors)[0]?.blocks[0];
  expect(block && blockNumber(block, "value", 9, undefined)).toBe("");
});
