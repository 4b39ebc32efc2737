// Tests the order and the names of gates and states on the page.

import { expect, it } from "vitest";
import { activationRows, gatesOnScreen } from "./gates";
import { layer } from "./testing";

it("shows an LSTM in the order keep, write, show", () => {
  const arrays = ["activation/input", "activation/forget", "activation/candidate", "activation/output", "cell_state", "hidden_state"];
  const rows = activationRows(layer(), [...arrays, "mask", "survival"]);
  expect(rows.map(({ name, meaning, scale }) => [name, meaning, scale])).toEqual([
    ["forget", "1 = keep", "open"],
    ["input", "1 = write", "open"],
    ["candidate", "what could be written", "signed"],
    ["output", "1 = show", "open"],
    ["cell state", "the memory", "unbounded"],
    ["hidden state", "what the next layer sees", "signed"],
  ]);
});

it("shows of other cells what there is", () => {
  const gru = layer({ cell: "gru", gates: ["reset", "update", "candidate"] });
  const rows = activationRows(gru, ["activation/update", "activation/reset", "activation/candidate", "hidden_state"]);
  expect(rows.map(({ key }) => key)).toEqual(["reset", "update", "candidate", "hidden_state"]);
  expect(rows[1]?.meaning).toBe("1 = keep the old state");
  expect(activationRows(layer({ cell: "unknown", gates: [] }), ["hidden_state"]).map(({ key }) => key)).toEqual(["hidden_state"]);
});

it("knows that two kinds of MGU read their forget gate the other way round", () => {
  const meaning = (keeps: boolean) =>
    activationRows(layer({ cell: "mgu", gates: ["forget"], options: { forget_keeps: keeps } }), ["activation/forget"])[0]?.meaning;
  expect(meaning(true)).toBe("1 = keep the old state");
  expect(meaning(false)).toBe("1 = take the candidate");
});

it("knows that an update gate may stand for the candidate", () => {
  const meaning = (options: Readonly<Record<string, boolean>>) =>
    activationRows(layer({ cell: "gru", gates: ["update"], options }), ["activation/update"])[0]?.meaning;
  expect(meaning({ update_keeps: true })).toBe("1 = keep the old state");
  expect(meaning({ update_keeps: false })).toBe("1 = take the candidate");
});

it("puts gates that it does not know last, in their own order", () => {
  expect(gatesOnScreen(["z", "output", "a", "forget"])).toEqual(["forget", "output", "z", "a"]);
});
