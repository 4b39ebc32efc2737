// What the surrounding TensorBoard tells this frame: its theme and its URL. It may be out of reach (another origin).

import { signal, type ReadonlySignal } from "@preact/signals";
import { parseHash, withSelection, type Selection } from "./model/address";
import type { Theme } from "./palette";

/** TensorBoard's own window, or this one where there is none or it is of another origin. */
const host = reachable(window.parent) ? window.parent : window;

const WRITE_INTERVAL_MS = 100;

/** Follows TensorBoard's switch, which does not reach `prefers-color-scheme`; alone, it follows that. */
export function watchTheme(): ReadonlySignal<Theme> {
  const preference = window.matchMedia("(prefers-color-scheme: dark)");
  const read = (): Theme => {
    const dark = host === window ? preference.matches : host.document.body.classList.contains("dark-mode");
    return dark ? "dark" : "light";
  };
  const theme = signal(read());
  const update = (): void => {
    theme.value = read();
  };
  preference.addEventListener("change", update);
  if (host !== window) new MutationObserver(update).observe(host.document.body, { attributeFilter: ["class"] });
  return theme;
}

export function readSelection(): Selection {
  return parseHash(host.location.hash);
}

let waiting: Selection | null = null;
let isResting = false;

/**
 * Replaces the entry in the browser's history: going back leaves the tab instead of undoing each click.
 * At once, but while changes come fast, as from a key that is held, a few times a second.
 */
export function writeSelection(selection: Selection): void {
  waiting = selection;
  if (!isResting) writeWaiting();
}

function writeWaiting(): void {
  isResting = waiting !== null;
  if (!waiting) return;
  replaceAddress(waiting);
  waiting = null;
  setTimeout(writeWaiting, WRITE_INTERVAL_MS);
}

function replaceAddress(selection: Selection): void {
  // A whole URL, because a hash alone would be taken relative to the frame's <base>.
  const url = new URL(host.location.href);
  url.hash = withSelection(host.location.hash, selection);
  if (url.href === host.location.href) return;
  try {
    host.history.replaceState(host.history.state, "", url.href);
  } catch {
    // Browsers limit how often per second; the next change writes again.
  }
}

/** The address that opens this view: of TensorBoard's page, or of this frame where that is out of reach. */
export function addressOfView(): string {
  if (waiting) replaceAddress(waiting);
  return host.location.href;
}

/** Calls back when somebody else changes the URL: a pasted link, or the back button. */
export function watchSelection(changed: () => void): void {
  host.addEventListener("hashchange", changed);
}

/** Keys go to this frame from the start, unless something in TensorBoard has them: a tab that was just clicked. */
export function takeFocus(): void {
  const focused = host.document.activeElement;
  if (host !== window && (!focused || focused === host.document.body)) window.focus();
}

function reachable(other: Window): boolean {
  try {
    return other !== window && Boolean(other.document.body);
  } catch {
    return false;
  }
}
