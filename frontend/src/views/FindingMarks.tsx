// Marks on the loss line where something began to look wrong.

import { chooseStep } from "../actions";
import { opened, shownFindings } from "../findings";
import { axis } from "../line";
import { count } from "../model/format";
import { heading, keyOf, marks } from "../model/findings";

export function FindingMarks() {
  return (
    <>
      {marks(shownFindings.value).map(({ step, findings }) => {
        const worst = findings[0];
        if (!worst) return null;
        const text = `training step ${count(step)}: ${findings.map(heading).join("; ")}`;
        return (
          <button
            key={step}
            type="button"
            class={`finding-mark is-${worst.severity}`}
            style={{ left: `${100 * Math.min(1, Math.max(0, axis.value(step)))}%` }}
            title={text}
            aria-label={text}
            data-testid={`mark-${step}`}
            onPointerDown={(event) => event.stopPropagation()}
            onClick={() => {
              chooseStep(step);
              opened.value = keyOf(worst);
            }}
          >
            ▼
          </button>
        );
      })}
    </>
  );
}
