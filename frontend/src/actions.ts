// What keys and buttons do to the selection.

import { batch, effect, signal } from "@preact/signals";
import { axis } from "./line";
import { nearestPosition, positionAt } from "./model/steps";
import { ALL_GATES, asked, type Place } from "./selection";
import { shown } from "./shown";
import { activations, gradients, layerId, layerIds, position, steps, weights } from "./state";

const PLAY_INTERVAL_MS = 350;

export const playing = signal(false);

export function chooseRun(run: string): void {
  asked.run.value = run;
}

export function chooseLayer(id: string): void {
  batch(() => {
    asked.layer.value = id;
    asked.call.value = 0;
    asked.pinned.value = null;
    asked.units.value = [];
  });
}

/** The layer and one of its gates; all its gates where that was chosen already. Null is none of its gates. */
export function chooseTile(id: string, gate: string | null): void {
  batch(() => {
    const isChosen = id === layerId.value && gate === asked.gate.value;
    if (id !== layerId.value) chooseLayer(id);
    asked.gate.value = gate === null || isChosen ? ALL_GATES : gate;
  });
}

/** Goes up or down the list of layers, and stops at its ends. */
export function moveLayer(by: number): void {
  const next = layerIds.value[layerIds.value.indexOf(layerId.value) + by];
  if (next !== undefined) chooseLayer(next);
}

/** The last step is remembered as "the last": it moves on while training does. */
export function choosePosition(wanted: number): void {
  const last = steps.value.length - 1;
  const chosen = Math.max(0, Math.min(last, wanted));
  asked.step.value = chosen >= last ? null : (steps.value[chosen] ?? null);
}

export function moveStep(by: number): void {
  choosePosition(position.value + by);
}

export function togglePlay(): void {
  if (!playing.value && position.value === steps.value.length - 1) choosePosition(0);
  playing.value = !playing.value && steps.value.length > 1;
}

/** Moves from picture to picture while `playing`, but never past one that is still on its way. */
export function startPlayer(): void {
  effect(() => {
    if (!playing.value) return undefined;
    const timer = setInterval(() => {
      if ([activations, gradients, weights].some(({ state }) => state.value.loading)) return;
      moveStep(1);
      if (position.value === steps.value.length - 1) playing.value = false;
    }, PLAY_INTERVAL_MS);
    return () => clearInterval(timer);
  });
}

/** Goes to the step whose place on an axis is nearest: on that of all steps, unless another is given. */
export function chooseNearest(place: number, scale = axis.value): void {
  choosePosition(nearestPosition(steps.value, place, scale));
}

export function chooseStep(step: number): void {
  choosePosition(positionAt(steps.value, step));
}

/** Pins a timestep: of the unit that is pinned already, or of the first one. */
export function pinColumn(column: number): void {
  const unit = asked.pinned.value ?? { unit: shown.value?.rows[0]?.indices[0] ?? 0, projected: false };
  pin({ ...unit, column });
}

export function pin(place: Place | null): void {
  const old = asked.pinned.value;
  const same = place && old && place.unit === old.unit && place.column === old.column && place.projected === old.projected;
  asked.pinned.value = same ? null : place;
}

/** Keeps the lines of a unit, or lets go of them. */
export function toggleUnit(unit: number): void {
  const kept = asked.units.value;
  asked.units.value = kept.includes(unit) ? kept.filter((one) => one !== unit) : [...kept, unit];
}
