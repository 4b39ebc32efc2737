// Which labels of a time axis have room.

export interface AxisLabel {
  readonly column: number;
  readonly text: string;
}

const LONGEST = 14;

/** Time labels from left to right, leaving out each that would run into its neighbour. */
export function fittingLabels(labels: readonly string[], columnWidth: number, characterWidth: number): AxisLabel[] {
  const fitting: AxisLabel[] = [];
  let free = -Infinity;
  labels.forEach((label, column) => {
    const text = shortened(visible(label));
    const middle = (column + 0.5) * columnWidth;
    const half = (textWidth(text) * characterWidth) / 2;
    if (text === "" || middle - half < free) return;
    fitting.push({ column, text });
    free = middle + half + (labels.length > 1 && textWidth(text) > 1 ? characterWidth : 0);
  });
  return fitting;
}

/** Timesteps at round distances, for a sequence without labels. Every column stands for `block` timesteps. */
export function numberLabels(columns: number, block: number, columnWidth: number, characterWidth: number): AxisLabel[] {
  const longest = String(columns * block).length + 2;
  const every = roundDistance((longest * characterWidth) / columnWidth);
  const labels: AxisLabel[] = [];
  for (let column = 0; column < columns; column += every) labels.push({ column, text: String(column * block) });
  return labels;
}

/** White space that would look like a missing label. */
export function visible(label: string): string {
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
  return Array.from(text).reduce((width, character) => width + ((character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1), 0);
}
