// What looks wrong, as a list of sentences that open: how we know, what it means, and what to try.

import { chooseLayer, chooseStep } from "../actions";
import { dismiss, dismissNothing, findings, opened, shownFindings } from "../findings";
import { count, plural, short } from "../model/format";
import { heading, ICONS, keyOf, nearestFirst, type Finding } from "../model/findings";
import { asked } from "../selection";
import { layerId } from "../state";
import { WhenReady } from "./Panel";

export function FindingList() {
  const dismissed = asked.dismissed.value.length;
  return (
    <div class="findings" role="region" aria-label="Findings" tabIndex={0} data-testid="findings">
      <WhenReady needs={[findings]}>
        {() => {
          const list = nearestFirst(shownFindings.value, layerId.value);
          return (
            <>
              {list.length === 0 && <p class="quiet">Nothing looks wrong.</p>}
              {list.map((finding) => (
                <Card key={keyOf(finding)} finding={finding} />
              ))}
            </>
          );
        }}
      </WhenReady>
      {dismissed > 0 && (
        <button type="button" class="undo" data-testid="undismiss" onClick={dismissNothing}>
          {`show ${plural(dismissed, "dismissed finding")}`}
        </button>
      )}
    </div>
  );
}

function Card({ finding }: { readonly finding: Finding }) {
  const key = keyOf(finding);
  const isOpen = opened.value === key;
  const open = (): void => {
    opened.value = isOpen ? "" : key;
    if (!isOpen && finding.layer !== null && finding.layer !== layerId.value) chooseLayer(finding.layer);
  };
  return (
    <section class={`finding is-${finding.severity}`} data-testid={`finding-${finding.id}`}>
      <h3>
        <button type="button" aria-expanded={isOpen} onClick={open}>
          <i class="severity" role="img" aria-label={finding.severity}>
            {ICONS[finding.severity]}
          </i>
          <span>{heading(finding)}</span>
        </button>
      </h3>
      {isOpen && <Details finding={finding} />}
    </section>
  );
}

function Details({ finding }: { readonly finding: Finding }) {
  const { id, gate, seen, meaning, try: suggestions, evidence, source, first_step: first, last_step: last, value, threshold, unit } = finding;
  const measured = [written(value), written(threshold)].map((text) => `${text}${unit ? ` ${unit}` : ""}`);
  return (
    <div class="finding-details">
      <p>{seen}</p>
      <p class="quiet">{meaning}</p>
      {suggestions.length > 0 && (
        <>
          <p>Try:</p>
          <ul>
            {suggestions.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </>
      )}
      <p class="quiet small">
        {`${id}${gate === null ? "" : ` · ${gate}`} · measured ${measured[0]}, threshold ${measured[1]} (${source}). Evidence: ${evidence}.`}
      </p>
      <p>
        <button type="button" data-testid="finding-step" onClick={() => chooseStep(first)}>
          {`go to training step ${count(first)}`}
        </button>{" "}
        <button type="button" title="Do not show this finding of this layer again in this view; the link remembers it" data-testid="dismiss" onClick={() => dismiss(finding)}>
          dismiss
        </button>
        {last > first && <span class="quiet small">{` up to training step ${count(last)}`}</span>}
      </p>
    </div>
  );
}

function written(value: number | string): string {
  return typeof value === "number" ? short(value, 4) : value;
}
