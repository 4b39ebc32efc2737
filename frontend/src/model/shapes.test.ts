// Tests the words for a histogram and for how it began.

import { expect, it } from "vitest";
import { shapeSentence } from "./shapes";

const SHAPES = { steps: [0, 10, 2000], shapes: ["a plateau between -1 and 1", "a plateau between -1 and 1", "a bell around 0 with spread 2"] };

it("says what is seen and what was seen at the start", () => {
  expect(shapeSentence(SHAPES, 0)).toBe("At training step 0: a plateau between −1 and 1.");
  expect(shapeSentence(SHAPES, 10)).toBe("At training step 10: a plateau between −1 and 1, as at the start.");
  expect(shapeSentence(SHAPES, 5000)).toBe("At training step 2,000: a bell around 0 with spread 2. At the start, training step 0: a plateau between −1 and 1.");
  expect(shapeSentence({ steps: [], shapes: [] }, 3)).toBe("");
});
