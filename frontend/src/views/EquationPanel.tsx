// What happened in the pinned cell: the equation with its numbers.

import { columnName, type ShownSample } from "../model/activations";
import { equation, type Equation } from "../model/equation";
import { unitValues, type NoValues } from "../model/equationValues";
import type { Place } from "../selection";
import { sampleIndex, snapshot } from "../shown";
import { series } from "../state";
import { Swatch } from "./parts";
import { SmallPanel } from "./UnitsPanel";

const HELP =
  "How this unit got its state at this timestep, from the logged numbers: each gate from its pre-activation, then the new state from the old one. " +
  "Numbers are rounded to three digits here; the line above the pictures has the stored ones.";

const WHY_NOT: Readonly<Record<NoValues, string>> = {
  masked: "This timestep was masked: the layer skipped it and carried its state on.",
  averaged: "One column is the mean of several timesteps here. The equation holds at each of them, but not for their means.",
  outside: "This timestep is not in the sequence.",
  "not kept": "This unit is not among those that were kept.",
};

export function EquationPanel({ sample, place }: { readonly sample: ShownSample; readonly place: Place | null }) {
  return (
    <SmallPanel title="The equation with its numbers" testId="equation" help={HELP}>
      {place ? <At sample={sample} place={place} /> : <p class="quiet">Click a cell to see how its value came about.</p>}
    </SmallPanel>
  );
}

function At({ sample, place }: { readonly sample: ShownSample; readonly place: Place }) {
  const title = `${place.projected ? "Hidden state" : "Unit"} ${place.unit} at ${columnName(sample, place.column)}`;
  return (
    <div class="equation">
      <h4>{title}</h4>
      {place.projected ? (
        <p class="quiet">A component of the projected hidden state is a sum over all units. Click a cell of a gate to see one unit&rsquo;s equation.</p>
      ) : (
        <Numbers place={place} />
      )}
    </div>
  );
}

function Numbers({ place }: { readonly place: Place }) {
  if (!snapshot.value) return null;
  const values = unitValues(snapshot.value, sampleIndex.value, place.unit, place.column);
  if (typeof values === "string") return <p class="quiet">{WHY_NOT[values]}</p>;
  const found = equation(values, peepholes());
  return found ? <Lines equation={found} /> : <p class="quiet">The equations of this cell are not known: only its states are logged.</p>;
}

function Lines({ equation: { lines, reading, notes } }: { readonly equation: Equation }) {
  return (
    <>
      <dl>
        {lines.map(({ key, name, sides, value }) => (
          <div key={key} data-testid={`equation-${key}`}>
            <dt>
              <Swatch gate={key} />
              {name}
            </dt>
            {sides.map((side, index) => (
              <dd key={index}>{`= ${side}`}</dd>
            ))}
            <dd>
              {"= "}
              <b>{value}</b>
            </dd>
          </div>
        ))}
      </dl>
      {reading && (
        <p class="reading" data-testid="equation-reading">
          {reading}
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="quiet aside">
          {note}
        </p>
      ))}
    </>
  );
}

/** The gates with a peephole, as the logged weights have them. */
function peepholes(): string[] {
  const rows = series.weights.value?.header.rows ?? [];
  return rows.flatMap((row) => (row.startsWith("peephole/") ? [row.slice("peephole/".length)] : []));
}
