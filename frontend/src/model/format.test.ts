// Tests numbers and times as they are written on the page.

import { describe, expect, it } from "vitest";
import { ago, compactCount, count, exact, percent, plural, short } from "./format";

describe("exact", () => {
  it("writes the shortest number that names one value of its dtype", () => {
    expect(exact(0.97998046875, "F16")).toBe("0.98");
    expect(exact(Math.fround(0.1), "F32")).toBe("0.1");
    expect(exact(Math.fround(0.1), "F64")).toBe("0.10000000149011612");
    expect(exact(2 ** -24, "F16")).toBe("6e−8");
    expect(exact(-2, "F32")).toBe("−2");
    expect(exact(65504, "F16")).toBe("65500");
  });

  it("can be read back", () => {
    for (let index = 1; index < 200; index += 1) {
      const value = Math.fround(Math.sin(index) * 10 ** ((index % 9) - 4));
      expect(Math.fround(Number(exact(value).replace(/−/g, "-")))).toBe(value);
    }
  });

  it("names what is not finite", () => {
    expect([NaN, Infinity, -Infinity, 0].map((value) => exact(value))).toEqual(["NaN", "+Inf", "−Inf", "0"]);
  });
});

describe("numbers in text", () => {
  it("rounds", () => {
    expect(short(1.41234)).toBe("1.41");
    expect(short(-0.000866, 2)).toBe("−0.00087");
    expect([-0.0000093, 1e-30, 0].map((value) => short(value))).toEqual(["−9.3e−6", "1e−30", "0"]);
    expect(percent(0.1234)).toBe("12 %");
    expect(percent(0.0123)).toBe("1.2 %");
    expect(percent(0.0000001)).toBe("< 0.1 %");
    expect(percent(0)).toBe("0 %");
    expect(percent(NaN)).toBe("NaN");
  });

  it("counts", () => {
    expect(count(6400)).toBe("6,400");
    expect([940, 1350, 8000, 15600, 1_200_000].map(compactCount)).toEqual(["940", "1.4k", "8k", "16k", "1.2M"]);
    expect(plural(1, "layer")).toBe("1 layer");
    expect(plural(1200, "layer")).toBe("1,200 layers");
  });

  it("tells the age in the largest unit that fits", () => {
    expect([2, 20, 300, 7200, 200000].map(ago)).toEqual(["just now", "20 s ago", "5 min ago", "2 h ago", "2 days ago"]);
  });
});
