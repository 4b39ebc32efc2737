// What the server says about records that could not be shown as they are.

import type { Kind } from "../api";
import { count } from "../model/format";
import { snapshots, statistics } from "../state";

export function notesOf(kind: Kind): string[] {
  const { value, error } = statistics[kind].state.value;
  const omitted = value?.header.omitted ?? [];
  return [
    ...(kind === "training_gradients" ? [] : (snapshots[kind].state.value.value?.notes ?? [])),
    ...omitted.map(({ step, reason }) => `The numbers of training step ${count(step)} are left out: ${reason}`),
    ...(error ? [error] : []),
  ];
}
