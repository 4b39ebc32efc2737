// The values of the pinned cell on one line; they change with the training step.

import { pin } from "../actions";
import { columnName, valueAtUnit, type ShownSample } from "../model/activations";
import { exact } from "../model/format";
import type { Place } from "../selection";
import { Swatch } from "./parts";

export function PinnedValues({ sample, place }: { readonly sample: ShownSample; readonly place: Place }) {
  const kept = sample.rows.filter((row) => row.projected === place.projected && row.indices.includes(place.unit));
  const isInside = place.column < sample.columns;
  return (
    <div class="pinned" data-testid="pinned">
      <b>{`${place.projected ? "hidden state" : "unit"} ${place.unit} · ${columnName(sample, place.column)}`}</b>
      {isInside &&
        kept.map((row) => (
          <span key={row.key} data-testid={`pinned-${row.key}`}>
            <Swatch gate={row.key} />
            {`${row.name} `}
            <b>{exact(valueAtUnit(row, place.unit, place.column), row.matrix.dtype)}</b>
          </span>
        ))}
      {!isInside && <span>is not in this sequence</span>}
      {isInside && kept.length === 0 && <span>is not among the units that were kept</span>}
      <button type="button" aria-label="Let go of the pinned cell" title="Let go (Escape)" onClick={() => pin(null)}>
        ×
      </button>
    </div>
  );
}
