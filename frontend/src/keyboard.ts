// Keys that work anywhere on the page, unless the focused control needs them itself.

import { choosePosition, moveLayer, moveStep, pin, togglePlay } from "./actions";
import { takeFocus } from "./host";
import { steps } from "./state";

const ACTIONS: Readonly<Record<string, () => void>> = {
  ArrowLeft: () => moveStep(-1),
  ArrowRight: () => moveStep(1),
  ArrowUp: () => moveLayer(-1),
  ArrowDown: () => moveLayer(1),
  Home: () => choosePosition(0),
  End: () => choosePosition(steps.value.length - 1),
  " ": togglePlay,
  Escape: () => pin(null),
};

export function listenToKeys(): void {
  takeFocus();
  document.addEventListener("keydown", (event) => {
    const action = ACTIONS[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || isTaken(event)) return;
    event.preventDefault();
    action();
  });
}

/** Fields take all keys; buttons take the space bar. */
function isTaken(event: KeyboardEvent): boolean {
  if (!(event.target instanceof Element)) return false;
  if (event.target.closest("input, select, textarea")) return true;
  return event.key === " " && event.target.closest("button, summary") !== null;
}
