// Tests the selection as text in TensorBoard's URL.

import { expect, it } from "vitest";
import { parseHash, withSelection } from "./address";

it("reads its own keys and nobody else's", () => {
  const hash = "#lstm_gates&p.lstm_gates.run=a%20b%2F%C3%A9%231%25&p.lstm_gates.step=900&p.other.run=x&tagFilter=y";
  expect(parseHash(hash)).toEqual({ run: "a b/é#1%", step: "900" });
});

it("survives what is not an encoded text", () => {
  expect(parseHash("#lstm_gates&p.lstm_gates.run=%E9&p.lstm_gates.layer")).toEqual({ layer: "" });
  expect(parseHash("")).toEqual({});
});

it("writes what it reads, and keeps the host's own keys", () => {
  const selection = { run: 'a b/é#1%&=<img src="x">', layer: "x" };
  const hash = withSelection("#lstm_gates&p.lstm_gates.step=3&tagFilter=y", selection);
  expect(hash).toMatch(/^#lstm_gates&tagFilter=y&p\.lstm_gates\.run=/);
  expect(parseHash(hash)).toEqual(selection);
  expect(withSelection(hash, selection)).toBe(hash);
});

it("leaves out what is empty, and names the tab where the hash is empty", () => {
  expect(withSelection("", { run: "a", step: "" })).toBe("#lstm_gates&p.lstm_gates.run=a");
  expect(withSelection("#scalars", {})).toBe("#scalars");
});
