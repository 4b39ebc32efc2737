// The colours of numbers and of gates, in both themes. All scales are safe for colour-blind readers.

import { interpolateViridis } from "d3-scale-chromatic";

export type Theme = "light" | "dark";
export type Ramp = "sequential" | "diverging" | "grey";

export interface ColourScale {
  readonly ramp: Ramp;
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
  /** RGBA bytes: 256 colours from low to high, that of NaN and the infinities, and that of zero on a logarithmic scale. */
  readonly table: Uint8Array<ArrayBuffer>;
  /** The same, four bytes a word, as pixels are written. */
  readonly words: Uint32Array;
}

export interface Colours {
  readonly ramp: Ramp;
  readonly low: number;
  readonly high: number;
  /** Equal distances for equal factors; zero has a colour of its own. */
  readonly log?: boolean;
}

type Rgb = readonly [number, number, number];

const ENTRIES = 256;
const MISSING_ENTRY = ENTRIES;
const ZERO_ENTRY = ENTRIES + 1;

const DIVERGING: Readonly<Record<Theme, readonly string[]>> = {
  light: ["#08458f", "#5b95d0", "#f5f5f3", "#ee9a5a", "#b84300"],
  dark: ["#8cc4ff", "#3f78b8", "#262626", "#b86c2e", "#ffb26b"],
};
const GREY: Readonly<Record<Theme, readonly string[]>> = {
  light: ["#f1f1ef", "#2b2b2b"],
  dark: ["#242424", "#ececec"],
};
const ZERO: Readonly<Record<Theme, string>> = { light: "#ffffff", dark: "#d3d6da" };
const MISSING: Readonly<Record<Theme, string>> = { light: "#e5007e", dark: "#ff4fb3" };

const GATES: Readonly<Record<string, string>> = {
  forget: "#7cb342",
  update: "#7cb342",
  input: "#12b5cb",
  reset: "#12b5cb",
  candidate: "#9334e6",
  output: "#f9ab00",
};
const OTHER_ROWS: Readonly<Record<Theme, string>> = { light: "#5f6368", dark: "#b0b3b8" };
const NORMS: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: { hidden_state: "#c2500a", cell_state: "#2a6fbb" },
  dark: { hidden_state: "#ff9d52", cell_state: "#8cc4ff" },
};
const STEPS: Readonly<Record<Theme, Readonly<Record<"first" | "last" | "chosen", string>>>> = {
  light: { first: "#b4b8be", last: "#5f6368", chosen: "#c2500a" },
  dark: { first: "#74787e", last: "#c9ccd1", chosen: "#ff9d52" },
};

export function colourScale({ ramp, low, high, log }: Colours, theme: Theme): ColourScale {
  const colours = table(ramp, theme);
  return { ramp, low, high, log: log ?? false, table: colours, words: new Uint32Array(colours.buffer) };
}

/** The colour of a gate's name; the same for the same role in every cell. */
export function gateColour(key: string, theme: Theme): string {
  return GATES[key] ?? OTHER_ROWS[theme];
}

export function colourOf(scale: ColourScale, value: number): Rgb {
  const at = 4 * entryOf(scale, value);
  return [scale.table[at] ?? 0, scale.table[at + 1] ?? 0, scale.table[at + 2] ?? 0];
}

/** The colour as a pixel: its four bytes as one number. */
export function pixelOf(scale: ColourScale, value: number): number {
  return scale.words[entryOf(scale, value)] ?? 0;
}

/** The colour bar as CSS. */
export function gradient(ramp: Ramp, theme: Theme): string {
  const colours = table(ramp, theme);
  const stops = Array.from({ length: 9 }, (_, index) => {
    const at = 4 * Math.round((index / 8) * (ENTRIES - 1));
    return `rgb(${colours.slice(at, at + 3).join(",")})`;
  });
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** A colour that lets what lies behind it through. */
export function withOpacity(colour: string, opacity: number): string {
  return `rgb(${rgb(colour).join(" ")} / ${opacity})`;
}

export function missingColour(theme: Theme): string {
  return MISSING[theme];
}

export function zeroColour(theme: Theme): string {
  return ZERO[theme];
}

/** The lines of norms per timestep. */
export function normColour(key: string, theme: Theme): string {
  return NORMS[theme][key] ?? OTHER_ROWS[theme];
}

/** Lines of earlier training steps, from the first to the last of them, and of the chosen one. */
export function stepColours(earlier: number, theme: Theme): string[] {
  const { first, last, chosen } = STEPS[theme];
  const colours = Array.from({ length: earlier }, (_, index) => between([rgb(first), rgb(last)], earlier > 1 ? index / (earlier - 1) : 1));
  return [...colours.map((colour) => `rgb(${colour.join(",")})`), chosen];
}

function entryOf({ low, high, log }: ColourScale, value: number): number {
  if (!Number.isFinite(value)) return MISSING_ENTRY;
  if (log && value === 0) return ZERO_ENTRY;
  if (!(high > low)) return ENTRIES / 2;
  const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.round(Math.min(1, Math.max(0, share)) * (ENTRIES - 1));
}

const tables = new Map<string, Uint8Array<ArrayBuffer>>();

function table(ramp: Ramp, theme: Theme): Uint8Array<ArrayBuffer> {
  const key = `${ramp} ${theme}`;
  const known = tables.get(key) ?? makeTable(ramp, theme);
  tables.set(key, known);
  return known;
}

function makeTable(ramp: Ramp, theme: Theme): Uint8Array<ArrayBuffer> {
  const stops = (ramp === "diverging" ? DIVERGING : GREY)[theme].map(rgb);
  const bytes = new Uint8Array(4 * (ENTRIES + 2)).fill(255);
  for (let entry = 0; entry < ENTRIES; entry += 1) {
    const share = entry / (ENTRIES - 1);
    bytes.set(ramp === "sequential" ? rgb(interpolateViridis(share)) : between(stops, share), 4 * entry);
  }
  bytes.set(rgb(MISSING[theme]), 4 * MISSING_ENTRY);
  bytes.set(rgb(ZERO[theme]), 4 * ZERO_ENTRY);
  return bytes;
}

function between(stops: readonly Rgb[], share: number): Rgb {
  const place = share * (stops.length - 1);
  const index = Math.min(Math.floor(place), stops.length - 2);
  const [from, to] = [stops[index], stops[index + 1]];
  if (!from || !to) throw new Error("A ramp needs two colours.");
  const mix = (channel: 0 | 1 | 2): number => Math.round(from[channel] + (to[channel] - from[channel]) * (place - index));
  return [mix(0), mix(1), mix(2)];
}

function rgb(hex: string): Rgb {
  const number = Number.parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 0xff, number & 0xff];
}
