// The pictures of a run in order, and the one that a change since the start is measured from.

import type { SnapshotEntry, SnapshotList } from "../api";
import { positionAt } from "./steps";

/** All pictures by their steps, the run's first one among them. */
export function allPictures(list: SnapshotList | undefined): SnapshotEntry[] {
  if (!list) return [];
  const { first, snapshots: others } = list;
  const missing = first && !others.some((one) => one.step === first.step);
  return [...(missing ? [first] : []), ...others].sort((a, b) => a.step - b.step);
}

/** The run's first picture: the start that the logged "change_since_start" has too. */
export function startPicture(list: SnapshotList | undefined): SnapshotEntry | undefined {
  return list?.first ?? allPictures(list)[0];
}

/** The picture at a step, or the last one before it. */
export function pictureAt(list: readonly SnapshotEntry[], step: number | undefined): SnapshotEntry | undefined {
  if (step === undefined) return undefined;
  return list[positionAt(list.map((one) => one.step), step)];
}
