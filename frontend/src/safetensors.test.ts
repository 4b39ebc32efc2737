// Tests the decoder against arrays written by Python, and with files that are damaged.

import { describe, expect, it } from "vitest";
import { decode, halfToNumber } from "./safetensors";
import { EVERY_DTYPE, INT16, INT32, NO_METADATA } from "./safetensors.fixtures";

function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;
}

/** The fixture with its JSON header replaced, the data section kept. */
function withHeader(json: object): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const whole = new Uint8Array(8 + text.length + 8);
  new DataView(whole.buffer).setBigUint64(0, BigInt(text.length), true);
  whole.set(text, 8);
  return whole.buffer;
}

const metadata = { __metadata__: { lstm_gates: "{}" } };

describe("decode", () => {
  const { header, tensors } = decode<{ step: number; layer: { id: string } }>(bytes(EVERY_DTYPE));
  const values = (name: string): number[] => Array.from(tensors.get(name)?.values ?? []);

  it("reads our header", () => {
    expect(header).toEqual({ version: 1, step: 900, layer: { id: "é<b>" } });
  });

  it("reads float16 in its shape", () => {
    expect(tensors.get("activation/forget")?.shape).toEqual([1, 2, 2]);
    expect(values("activation/forget")).toEqual([0.5, -2, NaN, Infinity]);
    expect(values("half")).toEqual([2 ** -24, 2 ** -14, 65504, -0.0999755859375, -Infinity]);
  });

  it("reads every other dtype", () => {
    expect(values("kernel/forget")).toEqual([1.5, -0.25, Math.fround(3e-5), NaN]);
    expect(values("statistics")).toEqual([1 / 3, Infinity]);
    expect(values("histogram")).toEqual([0, 4294967295]);
    expect(values("mask")).toEqual([1, 0, 1]);
    expect(values("steps")).toEqual([-1, 900, 2 ** 40]);
    expect(Array.from(decode(bytes(INT32)).tensors.get("reach/lags")?.values ?? [])).toEqual([0, -2, 100000]);
    expect(tensors.get("empty")).toMatchObject({ shape: [0, 3], values: new Float32Array(0) });
  });

  it("says what is wrong with bytes that it cannot read", () => {
    const whole = bytes(EVERY_DTYPE);
    expect(() => decode(new ArrayBuffer(3))).toThrow("has 3 bytes");
    expect(() => decode(whole.slice(0, 40))).toThrow("but only 32 follow");
    expect(() => decode(whole.slice(0, whole.byteLength - 1))).toThrow(/ends 1 bytes behind the end/);
    expect(() => decode(bytes(INT16))).toThrow('"odd" has dtype I16; known are F64');
    expect(() => decode(bytes(NO_METADATA))).toThrow("was not written by this plugin");
    expect(() => decode(withHeader({ __metadata__: { lstm_gates: "{" } }))).toThrow("is not JSON");
    expect(() => decode(withHeader([]))).toThrow("is not a JSON object");
  });

  it("refuses an array whose description does not fit its bytes", () => {
    const array = (entry: object) => () => decode(withHeader({ ...metadata, a: entry }));
    expect(array({ dtype: "F32", shape: [3], data_offsets: [0, 8] })).toThrow("of shape [3] needs 12 bytes, but has 8");
    expect(array({ dtype: "F32", shape: [2], data_offsets: [8, 16] })).toThrow("ends 8 bytes behind");
    expect(array({ dtype: "F32", shape: [-2], data_offsets: [0, 8] })).toThrow("not described by");
    expect(array({ dtype: "F32", shape: [2] })).toThrow("not described by");
  });
});

describe("halfToNumber", () => {
  it("reads signed zeros, subnormals and the special values", () => {
    expect(Object.is(halfToNumber(0x8000), -0)).toBe(true);
    expect(halfToNumber(0x03ff)).toBe(1023 * 2 ** -24);
    expect(halfToNumber(0x3c00)).toBe(1);
    expect(halfToNumber(0xc100)).toBe(-2.5);
    expect(halfToNumber(0x7c00)).toBe(Infinity);
    expect(halfToNumber(0xfe00)).toBeNaN();
  });
});
