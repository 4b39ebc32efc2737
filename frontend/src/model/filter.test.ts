// Tests which runs the filter lets through.

import { expect, it } from "vitest";
import { matchesFilter } from "./filter";

it("wants every word, in any order and case", () => {
  expect(matchesFilter("chars/Adam-3e-3", "adam chars")).toBe(true);
  expect(matchesFilter("chars/Adam-3e-3", "adam sgd")).toBe(false);
  expect(matchesFilter("anything", "  ")).toBe(true);
});
