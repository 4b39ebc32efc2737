// Tests which findings are shown where.

import { expect, it } from "vitest";
import { heading, keyOf, marks, nearestFirst, undismissed, verdictOf, worstOf, type Finding, type Findings, type Severity } from "./findings";

function finding(id: string, severity: Severity, layer: string | null, gate: string | null = null, step = 0): Finding {
  return {
    ...{ id, severity, title: "stopped learning", layer, gate, first_step: step, last_step: 9, value: 1, threshold: 0, unit: "" },
    ...{ evidence: "", seen: "", meaning: "", try: [], source: "" },
  };
}

const ALL: Findings = {
  verdict: { sentence: "1 of 2 layers look fine; a stopped learning.", severity: "error", fine_layers: 1 },
  findings: [finding("LG001", "error", "a", "forget", 7), finding("LG010", "warning", "b"), finding("LG012", "warning", null, null, 7), finding("LG033", "note", "a")],
  layers: 2,
};

it("takes the server's verdict until something was dismissed", () => {
  expect(verdictOf(ALL, [])).toBe(ALL.verdict);
  expect(verdictOf(ALL, ["LG001:a"])).toEqual({ sentence: "b stopped learning (1 dismissed).", severity: "warning" });
  expect(verdictOf(ALL, ["LG001:a", "LG010:b"])).toEqual({ sentence: "Stopped learning (2 dismissed).", severity: "warning" });
  expect(verdictOf(ALL, ALL.findings.map(keyOf))).toEqual({ sentence: "Nothing else looks wrong (4 dismissed).", severity: "fine" });
  expect(undismissed(ALL, ["LG012:"]).map(({ id }) => id)).toEqual(["LG001", "LG010", "LG033"]);
});

it("gives a tile the finding of its gate or of its whole layer, but no note", () => {
  expect(worstOf(ALL.findings, "a", "forget")?.id).toBe("LG001");
  expect(worstOf(ALL.findings, "a", "input")).toBeUndefined();
  expect(worstOf(ALL.findings, "b", "input")?.id).toBe("LG010");
});

it("lists the chosen layer first within a severity, and marks where something began", () => {
  expect(nearestFirst(ALL.findings, "b").map(({ id }) => id)).toEqual(["LG001", "LG010", "LG012", "LG033"]);
  expect(marks(ALL.findings).map(({ step, findings }) => [step, findings.map(({ id }) => id)])).toEqual([
    [7, ["LG001", "LG012"]],
    [0, ["LG010"]],
  ]);
  expect(heading(finding("LG012", "warning", null))).toBe("Stopped learning");
});
