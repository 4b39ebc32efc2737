// Tests the tiles: which there are, what they say at a training step, and their tiny lines.

import { describe, expect, it } from "vitest";
import type { Layer, LayerHealth } from "../api";
import { healthNumber, healthRows, level, tileValue, topOf, type HealthNumber, type Tile } from "./health";
import { trendPath } from "./healthTrend";

const LSTM = layerOf("a", "lstm", ["input", "forget", "candidate", "output"]);
const RNN = layerOf("b", "simple_rnn", ["hidden"]);

const HEALTH: LayerHealth[] = [
  {
    layer: RNN,
    kinds: { activations: { steps: [0], rows: { "activation/hidden": { nearly_open: [0.5] } }, memory: ["NaN"], memory_censored: ["NaN"] } },
  },
  {
    layer: LSTM,
    kinds: {
      activations: {
        steps: [0, 10, 20],
        rows: {
          "activation/forget": { nearly_open: [0.04, 0.38, "NaN"], nearly_closed: [0, 0, 0], not_finite: [0, 0, 12] },
          "activation/candidate": { nearly_open: [0.1, 0.2, 0.3], nearly_closed: [1, 1, 1] },
        },
        memory: [2, 7, 10.5],
        memory_censored: [0, 0, 1],
      },
      weights: {
        steps: [0, 10, 20],
        rows: {
          "kernel/forget": { change_since_start: [0, 0.5, 0.2], not_finite: [0, 0, 0] },
          "recurrent_kernel/forget": { change_since_start: [0, "NaN", 0.345], not_finite: [0, 3, 0] },
          "bias/forget": { change_since_start: [0, 1, 1] },
        },
      },
      gradients: { steps: [0, 10], rows: { "preactivation/forget": { norm: [0.01, 2e-7] } }, reach: [3, 9], reach_limit: [9, 9] },
    },
  },
];

describe("the tiles", () => {
  it("are in the order of the layers, and forget comes first", () => {
    const rows = healthRows(HEALTH, ["a", "b", "not told yet"], "nearly_open");
    expect(rows.map(({ layer, tiles }) => [layer.id, tiles.map(({ gate }) => gate)])).toEqual([
      ["a", ["forget", "candidate"]],
      ["b", ["hidden"]],
    ]);
  });

  it("show the last number at or before the chosen step", () => {
    const forget = tile("nearly_open");
    expect(tileValue(forget, 10, 1)).toEqual({
      text: "38 %",
      sentence: "38 % of its values are nearly open (above 0.9)",
      level: 0.38,
      isFinite: true,
      step: 10,
    });
    expect(tileValue(forget, 9, 1)).toMatchObject({ text: "4 %", step: 0 });
    expect(tileValue({ ...forget, steps: [5, 10, 20] }, 4, 1)).toMatchObject({ text: "–", step: null });
  });

  it("say so where a gate holds values that are not finite", () => {
    expect(tileValue(tile("nearly_open"), 20, 1)).toMatchObject({
      text: "NaN",
      sentence: "12 entries not finite (NaN or infinite)",
      isFinite: false,
    });
  });

  it("do not call a candidate open", () => {
    const candidate = healthRows(HEALTH, ["a"], "nearly_open")[0]?.tiles[1] as Tile;
    expect(tileValue(candidate, 0, 1).sentence).toBe("10 % of its values are beyond ±0.9");
  });

  it("of memory are one per layer, and none where nothing keeps", () => {
    const rows = healthRows(HEALTH, ["a", "b"], "memory");
    expect(rows.map(({ tiles }) => tiles.length)).toEqual([1, 0]);
    expect(tile("memory")).toMatchObject({ gate: "forget", name: "memory" });
    expect(topOf(rows, "memory")).toBe(10.5);
    expect(tileValue(tile("memory"), 20, 10.5)).toMatchObject({
      text: "≥ 10.5 timesteps",
      sentence: "the median unit keeps half of its state for at least 10.5 timesteps",
      level: 1,
    });
  });

  it("of the gradient end with the reach", () => {
    const [row] = healthRows(HEALTH, ["a"], "gradient");
    expect(row?.tiles.map(({ name, gate }) => [name, gate])).toEqual([
      ["forget", "forget"],
      ["reach", null],
    ]);
    expect(tileValue(row?.tiles[0] as Tile, 10, 0.01).text).toBe("2e−7");
    expect(tileValue(row?.tiles[1] as Tile, 0, 9).sentence).toBe("the error reaches 3 timesteps back");
    expect(tileValue(row?.tiles[1] as Tile, 10, 9).text).toBe("≥ 9 timesteps");
  });

  it("of change are those of the kernel that changed more", () => {
    expect(tile("change").values).toEqual([0, 0.5, 0.345]);
    expect(tileValue(tile("change"), 10, 1)).toMatchObject({ text: "50 %", sentence: "3 entries not finite (NaN or infinite)" });
    expect(tileValue(tile("change"), 20, 1).sentence).toBe("its kernel or its recurrent kernel has changed by 35 % of its size since the start");
  });
});

it("measures gradients by decades and others evenly", () => {
  expect(level("gradient", 0.1, 10)).toBeCloseTo(1 / 3);
  expect(level("gradient", 0, 10)).toBe(0);
  expect(level("change", 1.4, 1)).toBe(1);
  expect(level("memory", NaN, 10)).toBeNaN();
});

it("draws the tiny line with a gap where there is no number", () => {
  const place = (step: number): number => step / 20;
  expect(trendPath({ ...tile("nearly_open"), values: [0, 1, 0.5] }, place, 1)).toBe("M0.0 100.0h0L50.0 0.0L100.0 50.0");
  expect(trendPath({ ...tile("nearly_open"), values: [0, NaN, 0.5] }, place, 1)).toBe("M0.0 100.0h0M100.0 50.0h0");
});

it("draws few points of many steps, the last among them", () => {
  const steps = Array.from({ length: 1000 }, (_, at) => at);
  const many = { ...tile("nearly_open"), steps, values: steps.map(() => 0.5) };
  const path = trendPath(many, (step) => step / 999, 1);
  expect(path.match(/[ML]/g)?.length).toBeLessThan(60);
  expect(path.endsWith("L100.0 50.0")).toBe(true);
});

it("takes nearly open for any other word of the URL", () => {
  expect(healthNumber("memory")).toBe("memory");
  expect(healthNumber("<img>")).toBe("nearly_open");
});

function tile(number: HealthNumber): Tile {
  return healthRows(HEALTH, ["a"], number)[0]?.tiles[0] as Tile;
}

function layerOf(id: string, cell: string, gates: string[]): Layer {
  return { id, cell, gates, direction: "forward", input_size: 1, recurrent_size: 1, units: 1, options: {} };
}
