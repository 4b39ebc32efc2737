// The values of the pinned cell on one line; they change with the training step.

import { pin } from "../actions";
import { columnName, type ShownRow, type ShownSample } from "../model/activations";
import type { Difference } from "../model/difference";
import type { Place } from "../selection";
import { valueOf } from "./mapContent";
import { Swatch } from "./parts";

interface Props {
  readonly sample: ShownSample;
  readonly difference: Difference | undefined;
  readonly place: Place;
}

export function PinnedValues({ sample, difference, place }: Props) {
  const kept = sample.rows.filter((row) => row.projected === place.projected && row.indices.includes(place.unit));
  const isInside = place.column < sample.columns;
  return (
    <div class="pinned" data-testid="pinned">
      <b>{`${place.projected ? "hidden state" : "unit"} ${place.unit} · ${columnName(sample, place.column)}`}</b>
      {isInside &&
        kept.map((row) => (
          <span key={row.key} data-testid={`pinned-${row.key}`}>
            <PinnedValue row={row} difference={difference} place={place} />
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

function PinnedValue({ row, difference, place }: { readonly row: ShownRow; readonly difference: Difference | undefined; readonly place: Place }) {
  const { value, made } = valueOf(row, difference, place);
  return (
    <>
      <Swatch gate={row.key} />
      {`${row.name} `}
      {made && `${made} = `}
      <b>{value}</b>
    </>
  );
}
