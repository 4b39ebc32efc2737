// The findings of the chosen run: those that were not dismissed, and the verdict.

import { computed, effect, signal } from "@preact/signals";
import { fetchFindings } from "./api";
import { keyOf, undismissed, verdictOf, type Finding, type Findings } from "./model/findings";
import { resource } from "./resource";
import { asked } from "./selection";
import { generation, isDrawn, run } from "./state";

export const findings = resource<Findings>();

/** The finding that is open, by its key. */
export const opened = signal("");

export const shownFindings = computed((): readonly Finding[] => {
  const all = findings.state.value.value;
  return all ? undismissed(all, asked.dismissed.value) : [];
});

export const verdict = computed(() => {
  const all = findings.state.value.value;
  return all && verdictOf(all, asked.dismissed.value);
});

/** Starts fetching; from then on each reload and each other run fetches them anew. */
export function startDiagnosing(): void {
  let [of, judged] = ["", ""];
  effect(() => {
    const name = run.value?.run ?? "";
    if (name !== of) findings.clear(); // what is there is of another run
    of = name;
    const question = `${generation.value} ${name}`;
    // Pictures and tiles first: the server reads everything of a run to judge it.
    if (!name || !isDrawn.value || question === judged) return;
    judged = question;
    findings.load(name, (abort) => fetchFindings(name, abort));
  });
}

export function dismiss(finding: Finding): void {
  asked.dismissed.value = [...asked.dismissed.value, keyOf(finding)];
}

export function dismissNothing(): void {
  asked.dismissed.value = [];
}
