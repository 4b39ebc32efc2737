// Which labels of a time axis have room.

export interface AxisLabel {
  readonly column: number;
  readonly text: string;
  /** Its middle, in pixels: below the middle of its column, unless it would hang over an end of the axis. */
  readonly x: number;
}

const LONGEST = 20;
const ROUNDING = 1e-6;
/** In pixels; below this, letters cannot be told apart. */
const LEAST_CHARACTER_WIDTH = 4.8;

/** Time labels from left to right, leaving out each that would run into its neighbour. */
export function fittingLabels(labels: readonly string[], columnWidth: number, characterWidth: number): AxisLabel[] {
  const fitting: AxisLabel[] = [];
  let free = -Infinity;
  labels.forEach((label, column) => {
    const placed = place(shortened(visible(label)), column, labels.length, columnWidth, characterWidth);
    const half = (textWidth(placed.text) * characterWidth) / 2;
    if (placed.text === "" || placed.x - half < free - ROUNDING) return;
    fitting.push(placed);
    // Words need a space between them; single characters stand as in running text.
    free = placed.x + half + (textWidth(placed.text) > 1 ? characterWidth : 0);
  });
  return fitting;
}

/** Single characters are written as narrow as their columns, so that a text can still be read as one. */
export function characterWidthFor(labels: readonly string[], columnWidth: number, usual: number): number {
  const isText = labels.every((label) => textWidth(label) <= 1);
  return isText && columnWidth >= LEAST_CHARACTER_WIDTH ? Math.min(usual, columnWidth) : usual;
}

/** Moves places apart that are nearer to each other than `distance`, keeping their order and staying between the ends. */
export function spreadApart(places: readonly number[], distance: number, low: number, high: number): number[] {
  const order = places.map((_, index) => index).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const spread = [...places];
  let free = low;
  for (const index of order) {
    spread[index] = Math.max(spread[index] ?? 0, free);
    free = (spread[index] ?? 0) + distance;
  }
  let limit = high;
  for (const index of order.reverse()) {
    spread[index] = Math.min(spread[index] ?? 0, limit);
    limit = (spread[index] ?? 0) - distance;
  }
  return spread;
}

/** Timesteps at round distances, for a sequence without labels. Every column stands for `block` timesteps. */
export function numberLabels(columns: number, block: number, columnWidth: number, characterWidth: number): AxisLabel[] {
  const longest = String(columns * block).length + 2;
  const every = roundDistance((longest * characterWidth) / columnWidth);
  const labels: AxisLabel[] = [];
  for (let column = 0; column < columns; column += every) {
    labels.push(place(String(column * block), column, columns, columnWidth, characterWidth));
  }
  return labels;
}

function place(text: string, column: number, columns: number, columnWidth: number, characterWidth: number): AxisLabel {
  const half = (textWidth(text) * characterWidth) / 2;
  const middle = (column + 0.5) * columnWidth;
  return { column, text, x: Math.max(half, Math.min(middle, columns * columnWidth - half)) };
}

/** A label of white space alone would look as if it were missing. */
function visible(label: string): string {
  if (label.trim() !== "") return label;
  return label.replace(/ /g, "·").replace(/\n/g, "⏎").replace(/\t/g, "⇥");
}

function roundDistance(least: number): number {
  for (let power = 1; ; power *= 10) {
    for (const step of [1, 2, 5]) if (step * power >= least) return step * power;
  }
}

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : text;
}

/** In character widths; East Asian characters and emoji take two. */
function textWidth(text: string): number {
  return Array.from(text).reduce((width, character) => width + ((character.codePointAt(0) ?? 0) >= 0x2e80 ? 2 : 1), 0);
}
