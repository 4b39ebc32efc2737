// Tests which lines one unit has, on which axes, and that masked timesteps are gaps.

import { expect, it } from "vitest";
import { shownSample } from "./activations";
import { layer, tensor } from "./testing";
import { stepPath, unitPlots } from "./unitLines";

const header = { step: 0, layer: layer(), units: [0, 1], samples: 1, timesteps: 3, block: 1, sample_names: null, time_labels: null };
const tensors = new Map([
  ["activation/forget", tensor([1, 3, 2], [0.1, 0.2, 0.3, 0.4, 0.5, 0.75], "F32")],
  ["activation/input", tensor([1, 3, 2], [0, 1, 0, 1, 0, 1])],
  ["cell_state", tensor([1, 3, 2], [1, 2, 1, -3.5, 1, 2])],
  ["hidden_state", tensor([1, 3, 2], [0, 0.5, 0, -0.5, 0, 0])],
  ["mask", tensor([1, 3], [1, 1, 0], "U8")],
]);
const sample = shownSample({ header, tensors }, 0, undefined);

it("puts the gates of a unit on one plot and its states on another", () => {
  const [gates, states] = unitPlots(sample, 1);
  expect(gates?.lines.map(({ key }) => key)).toEqual(["forget", "input"]);
  expect(gates?.range).toEqual([0, 1]);
  expect(gates?.lines[1]?.values).toEqual([1, 1, NaN]);
  expect(states?.lines.map(({ key, values }) => [key, values])).toEqual([
    ["cell_state", [2, -3.5, NaN]],
    ["hidden_state", [0.5, -0.5, NaN]],
  ]);
  expect(states?.range).toEqual([-3.5, 3.5]);
  expect(unitPlots(sample, 7)).toEqual([]);
});

it("draws steps with gaps", () => {
  expect(stepPath([0, 0.5, NaN, 1], [0, 1])).toBe("M0 1.0000H1V0.5000H2M3 0.0000H4");
});
