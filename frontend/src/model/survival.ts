// How many units remember for how long, counted in bins that double.

import type { UnitNumbers } from "./units";

export interface SurvivalBin {
  /** "1", "3–4", or "longer": half was not forgotten when the sequence ended. */
  readonly text: string;
  /** In little room, up to how many timesteps: "4". */
  readonly end: string;
  readonly units: readonly number[];
  readonly isLonger: boolean;
}

/** @param timesteps - of the sequence: no unit can be seen to remember longer. */
export function survivalBins({ units, survival, censored }: UnitNumbers, timesteps: number): SurvivalBin[] {
  if (!survival) return [];
  const ends = [1];
  while ((ends.at(-1) ?? 0) < timesteps) ends.push(2 * (ends.at(-1) ?? 1));
  const counted = ends.map((end, index) => {
    const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
    const inside = units.filter((_, at) => !censored[at] && (survival[at] ?? NaN) > start && (survival[at] ?? NaN) <= end);
    return { text: binName(start, Math.min(end, timesteps)), end: String(Math.min(end, timesteps)), units: inside, isLonger: false };
  });
  return [...counted, { text: "longer", end: "longer", units: units.filter((_, at) => censored[at]), isLonger: true }];
}

function binName(start: number, end: number): string {
  return start + 1 >= end ? String(end) : `${start + 1}–${end}`;
}
