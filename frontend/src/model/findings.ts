// What looks wrong in a run: which findings are shown, the verdict, and what belongs to which layer and gate.

export type Severity = "error" | "warning" | "note";

/** One thing that was seen in a run; `layer` is null for the run as a whole. */
export interface Finding {
  /** Of the rule, stable: "LG010". */
  readonly id: string;
  readonly severity: Severity;
  /** In words that follow the layer's name; a whole clause where it is of the run. */
  readonly title: string;
  readonly layer: string | null;
  /** A gate, or a part of the weights. */
  readonly gate: string | null;
  readonly first_step: number;
  readonly last_step: number;
  readonly value: number | string;
  readonly threshold: number | string;
  readonly unit: string;
  readonly evidence: string;
  readonly seen: string;
  readonly meaning: string;
  readonly try: readonly string[];
  readonly source: string;
}

export interface Findings {
  readonly verdict: { readonly sentence: string; readonly severity: Severity | "fine"; readonly fine_layers: number };
  /** The worst first. */
  readonly findings: readonly Finding[];
  readonly layers: number;
}

export interface Verdict {
  readonly sentence: string;
  readonly severity: Severity | "fine";
}

/** An icon besides the colour. */
export const ICONS: Readonly<Record<Severity | "fine", string>> = { error: "✕", warning: "!", note: "i", fine: "✓" };

/** "LG010:lstm_0", or of the run "LG012:". */
export function keyOf({ id, layer }: Finding): string {
  return `${id}:${layer ?? ""}`;
}

export function undismissed({ findings }: Findings, dismissed: readonly string[]): Finding[] {
  return findings.filter((finding) => !dismissed.includes(keyOf(finding)));
}

/** The server's sentence; where something was dismissed, one about what is left. */
export function verdictOf(all: Findings, dismissed: readonly string[]): Verdict {
  const left = undismissed(all, dismissed);
  if (left.length === all.findings.length) return all.verdict;
  const worse = left.filter(({ severity }) => severity !== "note");
  const worst = worse[0];
  const hidden = `${all.findings.length - left.length} dismissed`;
  if (!worst) return { sentence: `Nothing else looks wrong (${hidden}).`, severity: "fine" };
  const title = worst.layer === null ? worst.title.charAt(0).toUpperCase() + worst.title.slice(1) : `${worst.layer} ${worst.title}`;
  return { sentence: `${title} (${hidden}).`, severity: worst.severity };
}

/** Of one layer's gate: the worst warning or error that is about it. */
export function worstOf(findings: readonly Finding[], layer: string, gate: string | null): Finding | undefined {
  return findings.find((one) => one.severity !== "note" && one.layer === layer && (gate === null || one.gate === gate || one.gate === null));
}

/** Those of the chosen layer and of the run first, each in the order that they have. */
export function nearestFirst(findings: readonly Finding[], layer: string): Finding[] {
  const place = (one: Finding): number => (one.layer === layer ? 0 : one.layer === null ? 1 : 2);
  return [...findings].sort((a, b) => severityPlace(a) - severityPlace(b) || place(a) - place(b));
}

/** Training steps at which something began, each with what began there. */
export function marks(findings: readonly Finding[]): { readonly step: number; readonly findings: readonly Finding[] }[] {
  const byStep = new Map<number, Finding[]>();
  for (const finding of findings) {
    if (finding.severity === "note") continue;
    byStep.set(finding.first_step, [...(byStep.get(finding.first_step) ?? []), finding]);
  }
  return Array.from(byStep, ([step, own]) => ({ step, findings: own }));
}

/** "lstm_2 has many dead units"; of the run, the clause alone. */
export function heading({ layer, title }: Finding): string {
  return layer === null ? title.charAt(0).toUpperCase() + title.slice(1) : `${layer} ${title}`;
}

function severityPlace({ severity }: Finding): number {
  return ["error", "warning", "note"].indexOf(severity);
}
