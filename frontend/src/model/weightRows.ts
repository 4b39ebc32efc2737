// The rows of the weights' statistics: which there are, what they are called, and which one is shown.

import { gatesOnScreen, words } from "./gates";
import type { Records } from "./records";

const NAMES: Readonly<Record<string, string>> = {
  kernel: "weights from the input",
  recurrent_kernel: "weights from the previous hidden state",
};

/** In the order of the page: by part, then by gate. */
export function weightRows({ header }: Records): string[] {
  const gates = gatesOnScreen(header.layer.gates);
  const parts = Array.from(new Set(header.rows.map(partOf)));
  return parts.flatMap((part) => {
    const rows = header.rows.filter((row) => partOf(row) === part);
    return rows.sort((a, b) => gates.indexOf(gateOf(a)) - gates.indexOf(gateOf(b)));
  });
}

/** That of the chosen gate in the part that was asked for; else the row that was asked for; else a recurrent kernel. */
export function shownRow(rows: readonly string[], asked: string, gate: string): string {
  const part = partOf(asked) || "recurrent_kernel";
  const wanted = [`${part}/${gate}`, asked].find((row) => rows.includes(row));
  return wanted ?? rows.find((row) => partOf(row) === part) ?? rows[0] ?? "";
}

/** "forget gate, weights from the previous hidden state". */
export function rowName(row: string, gates: readonly string[]): string {
  const [part, gate] = [partOf(row), gateOf(row)];
  if (!row.includes("/")) return words(row);
  const what = NAMES[part] ?? words(part);
  return part === "weights" ? gate : `${words(gate)}${gates.length > 1 && gate !== "candidate" ? " gate" : ""}, ${what}`;
}

export function partOf(row: string): string {
  return row.split("/")[0] ?? row;
}

export function gateOf(row: string): string {
  return row.slice(row.indexOf("/") + 1);
}
