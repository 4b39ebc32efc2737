// Tests the rows, tracks and names of one sample of a snapshot.

import { expect, it } from "vitest";
import type { ActivationsHeader } from "../api";
import {
  columnName,
  featureCount,
  featureName,
  keptSamples,
  sampleCount,
  sampleName,
  sampleWord,
  shownSample,
  valueAtUnit,
} from "./activations";
import { layer, tensor } from "./testing";

const header: ActivationsHeader = {
  step: 5,
  layer: layer(),
  units: [40, 7],
  samples: 3,
  timesteps: 3,
  block: 1,
  sample_names: ["first", "second"],
  time_labels: [
    ["a", "b", "c"],
    ["x", "", "z"],
  ],
};
// Two samples, three columns, two units.
const values = Array.from({ length: 12 }, (_, index) => index / 16);
const snapshot = {
  header,
  tensors: new Map([
    ["activation/forget", tensor([2, 3, 2], values, "F16")],
    ["hidden_state", tensor([2, 3, 2], values, "F16")],
    ["mask", tensor([2, 3], [1, 1, 1, 1, 1, 0], "U8")],
    ["track/input", tensor([2, 3], [1, 2, 3, 4, 5, 6])],
    ["track/target", tensor([2], [7, 8])],
    ["track/loss", tensor([2, 5], new Array<number>(10).fill(0))],
  ]),
};

it("cuts one sample out, its units by true index", () => {
  const sample = shownSample(snapshot, 1, undefined);
  const [forget, hidden] = sample.rows;
  if (!forget || !hidden) throw new Error("two rows are expected");
  expect(sample.rows.map(({ key }) => key)).toEqual(["forget", "hidden_state"]);
  expect(forget.indices).toEqual([7, 40]);
  expect(valueAtUnit(forget, 40, 0)).toBe(6 / 16);
  expect(valueAtUnit(forget, 7, 2)).toBe(11 / 16);
  expect(valueAtUnit(forget, 1, 2)).toBeNaN();
  expect(forget.matrix.gaps).toEqual([false, false, true]);
});

it("shows tracks on the time axis, and single values as facts", () => {
  const sample = shownSample(snapshot, 1, undefined);
  expect(sample.tracks.map(({ key, matrix }) => [key, Array.from(matrix.values)])).toEqual([["input", [4, 5, 6]]]);
  expect(sample.facts).toEqual(["target 8"]);
});

it("names samples and columns", () => {
  expect(keptSamples(snapshot)).toBe(2);
  expect(sampleName(snapshot, 1)).toBe("second");
  expect(sampleName({ ...snapshot, header: { ...header, sample_names: null } }, 1)).toBe("sample 1");
  const sample = shownSample(snapshot, 1, undefined);
  expect(columnName(sample, 0)).toBe("timestep 0 “x”");
  expect(columnName(sample, 1)).toBe("timestep 1");
  const joined = { ...sample, labels: null, block: 4, timesteps: 10 };
  expect(columnName(joined, 2)).toBe("mean of timesteps 8–9");
});

it("says how many samples of how many are kept", () => {
  expect(sampleCount(snapshot)).toBe("of 2 (of 3 in the probe)");
  expect(sampleCount({ ...snapshot, header: { ...header, samples: 2 } })).toBe("of 2");
});

it("calls rows that are not the probe's samples rows", () => {
  const rows = { ...snapshot, header: { ...header, sample_names: null, rows_match_probe: false } };
  expect([sampleWord(snapshot), sampleWord(rows)]).toEqual(["sample", "row"]);
  expect(sampleName(rows, 1)).toBe("row 1");
  expect(sampleCount(rows)).toBe("of 2 (of 3 rows)");
});

it("names the kept features of the input by their true index", () => {
  const tensors = new Map([...snapshot.tensors, ["track/input", tensor([2, 3, 2], values)] as const]);
  const inputTrack = (changes: Partial<ActivationsHeader>) => {
    const [found] = shownSample({ header: { ...header, ...changes }, tensors }, 0, undefined).tracks;
    if (!found) throw new Error("a track is expected");
    return found;
  };
  const some = inputTrack({ track_features: [0, 16], track_features_total: 100 });
  expect([featureCount(some), featureName(some, 1)]).toEqual(["2 of 100 features", "input 16"]);
  const unknown = inputTrack({});
  expect([featureCount(unknown), featureName(unknown, 1)]).toEqual(["2 features", "input 1"]);
  const [single] = shownSample(snapshot, 0, undefined).tracks;
  expect(single && [featureCount(single), featureName(single, 0)]).toEqual(["", "input"]);
});

it("keeps a projected hidden state apart from units", () => {
  const projected = { ...header, layer: layer({ recurrent_size: 1 }), hidden_units: [0] };
  const tensors = new Map([...snapshot.tensors, ["hidden_state", tensor([2, 3, 1], [0, 1, 2, 3, 4, 5])] as const]);
  const hidden = shownSample({ header: projected, tensors }, 1, undefined).rows[1];
  expect(hidden).toMatchObject({ key: "hidden_state", projected: true, indices: [0] });
});
