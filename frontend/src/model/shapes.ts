// What a histogram shows at a training step, in words, and what it showed at the start.

import type { Shapes } from "../api";
import { count } from "./format";
import { positionAt } from "./steps";

/** "At training step 400: a bell around 0 with spread 0.1. At the start, training step 0: a plateau between ..." */
export function shapeSentence({ steps, shapes }: Shapes, step: number): string {
  const at = positionAt(steps, step);
  // The minus sign of all other numbers on the page.
  const [first, shown] = [shapes[0], shapes[at]].map((words) => words?.replace(/-(?=\d)/g, "−"));
  if (first === undefined || shown === undefined) return "";
  const now = `At training step ${count(steps[at] ?? NaN)}: ${shown}`;
  if (at === 0) return `${now}.`;
  if (shown === first) return `${now}, as at the start.`;
  return `${now}. At the start, training step ${count(steps[0] ?? NaN)}: ${first}.`;
}
