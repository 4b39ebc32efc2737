// How often each unit's gate is nearly closed and nearly open, as points of a triangle.

import type { UnitNumbers } from "./units";

/** Units that lie at the same place, as good as. */
export interface Point {
  readonly units: readonly number[];
  /** Shares of the timesteps, 0..1: together at most 1. */
  readonly open: number;
  readonly closed: number;
}

/** Places that are nearer are drawn as one point. */
const GRAIN = 1 / 60;

export function saturationPoints(numbers: UnitNumbers, row: string): Point[] {
  const [open, closed] = [numbers.of(row, "nearly_open"), numbers.of(row, "nearly_closed")];
  if (!open || !closed) return [];
  const places = new Map<string, { units: number[]; open: number; closed: number }>();
  numbers.units.forEach((unit, index) => {
    const [x, y] = [open[index] ?? NaN, closed[index] ?? NaN];
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const key = `${Math.round(x / GRAIN)} ${Math.round(y / GRAIN)}`;
    const place = places.get(key) ?? { units: [], open: x, closed: y };
    place.units.push(unit);
    places.set(key, place);
  });
  return [...places.values()];
}

/** "units 3, 17, 41", and of many the first ones. */
export function unitNames(units: readonly number[], most = 8): string {
  const [first] = units;
  if (units.length === 1) return `unit ${first}`;
  const listed = units.slice(0, most).join(", ");
  return `units ${listed}${units.length > most ? ` and ${units.length - most} more` : ""}`;
}
