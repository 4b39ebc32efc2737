// Two small buttons: the panel as a picture, and its numbers as CSV.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { count } from "../model/format";
import { csv, fileName, type Table } from "../model/table";
import { pictureOf } from "../picture";
import { save } from "../saving";
import { layerId, run, step } from "../state";

interface Props {
  readonly title: string;
  readonly testId: string;
  readonly panel: RefObject<HTMLElement | null>;
  readonly numbers: () => readonly Table[];
}

export function Exports({ title, testId, panel, numbers }: Props) {
  const [problem, setProblem] = useState("");

  async function attempt(action: () => Promise<void> | void): Promise<void> {
    try {
      await action();
      setProblem("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <span class="exports">
      <button type="button" title={`Save ${title} as a picture (PNG)`} aria-label={`PNG picture of ${title}`} data-testid={`${testId}-png`} onClick={() => void attempt(savePicture)}>
        PNG
      </button>
      <button type="button" title={`Save the numbers of ${title} (CSV)`} aria-label={`CSV of the numbers of ${title}`} data-testid={`${testId}-csv`} onClick={() => void attempt(saveNumbers)}>
        CSV
      </button>
      <span role="status">{problem}</span>
    </span>
  );

  async function savePicture(): Promise<void> {
    if (!panel.current) return;
    const picture = pictureOf(panel.current, [[run.value?.name, layerId.value, `training step ${count(step.value ?? 0)}`].join(" · ")]);
    const content = await new Promise<Blob | null>((resolve) => picture.toBlob(resolve));
    if (!content) throw new Error("The picture is too large for this browser.");
    save(content, nameOf("png"));
  }

  function saveNumbers(): void {
    const tables = numbers();
    if (tables.length === 0) throw new Error("There are no numbers here yet.");
    const context = { run: run.value?.name ?? "", layer: layerId.value, "training step": step.value ?? "" };
    save(new Blob(csv(context, tables), { type: "text/csv" }), nameOf("csv"));
  }

  function nameOf(ending: string): string {
    return fileName([run.value?.name ?? "", layerId.value, testId, `step_${step.value ?? 0}`], ending);
  }
}
