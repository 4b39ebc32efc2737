// Fetches again after TensorBoard's reloads; a hidden tab waits until it is looked at.

import { watchReload } from "./reload";
import { generation } from "./state";

export function startReloading(): void {
  let missed = false;
  const refresh = (): void => {
    missed = false;
    generation.value += 1;
  };
  watchReload(() => {
    if (isVisible()) refresh();
    else missed = true;
  });
  // The host gives a hidden frame no height, and sends no message when it comes back.
  window.addEventListener("resize", () => {
    if (missed && isVisible()) refresh();
  });
}

function isVisible(): boolean {
  return window.innerHeight > 0;
}
