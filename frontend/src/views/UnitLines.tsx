// The pinned units as lines over time, on the time axis of the pictures above them.

import { pin, toggleUnit } from "../actions";
import { difference } from "../maps";
import type { ShownSample } from "../model/activations";
import { shareOf, type Span } from "../model/figure";
import { short } from "../model/format";
import { gapSpans } from "../model/gradients";
import { stepPath, unitPlots, type UnitLine, type UnitPlot } from "../model/unitLines";
import { gateColour } from "../palette";
import { asked, type Place } from "../selection";
import { theme } from "../theme";

const HEIGHT = 64;
/** Beside the others, which have colours. */
const DASHED = "hidden_state";

interface Props {
  readonly sample: ShownSample;
  readonly unit: number;
  readonly mark: Place | null;
  readonly onHover: (place: Place | null, x: number, y: number) => void;
}

/** Those that are kept, and that of the pinned cell. */
export function unitsWithLines(): number[] {
  const pinned = asked.pinned.value;
  const units = asked.units.value;
  return pinned && !pinned.projected && !units.includes(pinned.unit) ? [...units, pinned.unit] : [...units];
}

export function UnitLines({ sample, unit, mark, onHover }: Props) {
  const plots = unitPlots(sample, unit);
  const isKept = asked.units.value.includes(unit);
  return (
    <figure class="map unit-lines" data-testid={`unit-lines-${unit}`}>
      <figcaption>
        <b>{`unit ${unit}`}</b>
        {difference.value && <span class="quiet">values, not differences</span>}
        <span class="meaning">{plots.flatMap(({ lines }) => lines).map((line) => <LineKey key={line.key} line={line} />)}</span>
        <button
          type="button"
          aria-pressed={isKept}
          title={isKept ? "Let go of these lines" : "Keep these lines when another cell is clicked"}
          data-testid={`keep-unit-${unit}`}
          onClick={() => toggleUnit(unit)}
        >
          {isKept ? "kept ×" : "keep"}
        </button>
      </figcaption>
      {plots.length === 0 && <p class="quiet">{`Unit ${unit} is not among those that were kept.`}</p>}
      {plots.map((plot) => (
        <Plot key={plot.lines[0]?.key} plot={plot} sample={sample} unit={unit} mark={mark} onHover={onHover} />
      ))}
    </figure>
  );
}

function Plot({ plot, sample, unit, mark, onHover }: Props & { readonly plot: UnitPlot }) {
  const { lines, range } = plot;
  const { columns } = sample;
  const placeOf = (event: MouseEvent): Place => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    return { unit, column: Math.max(0, Math.min(columns - 1, column)), projected: false };
  };
  return (
    <div
      class="plot unit-plot"
      style={{ height: `${HEIGHT}px` }}
      onPointerMove={(event) => onHover(placeOf(event), event.clientX, event.clientY)}
      onPointerLeave={() => onHover(null, 0, 0)}
      onClick={(event) => pin(placeOf(event))}
    >
      {gapSpans(sample.rows[0]?.matrix.gaps?.slice(0, columns)).map(([first, end]) => (
        <i key={first} class="gap" style={{ left: `${(100 * first) / columns}%`, width: `${(100 * (end - first)) / columns}%` }} />
      ))}
      <svg viewBox={`0 0 ${columns} 1`} preserveAspectRatio="none" role="img" aria-label={described(unit, lines)}>
        {range[0] < 0 && <path class="zero" d={`M0 ${1 - shareOf(range, 0)}H${columns}`} />}
        {lines.map(({ key, values }) => (
          <path key={key} d={stepPath(values, range)} stroke={gateColour(key, theme.value)} stroke-dasharray={key === DASHED ? "3 2" : undefined} />
        ))}
      </svg>
      {mark && mark.column < columns && <i class="guide pointer" style={{ left: `${(100 * (mark.column + 0.5)) / columns}%` }} />}
      <Ends range={range} />
    </div>
  );
}

function Ends({ range: [low, high] }: { readonly range: Span }) {
  return (
    <>
      <span class="guide-name" style={{ top: 0 }}>
        {`${low < 0 ? "+" : ""}${short(high)}`}
      </span>
      <span class="guide-name" style={{ bottom: 0 }}>
        {short(low)}
      </span>
    </>
  );
}

function LineKey({ line: { key, name } }: { readonly line: UnitLine }) {
  const colour = gateColour(key, theme.value);
  return (
    <span class="line-key">
      <i class="line-sample" style={{ borderTop: `2px ${key === DASHED ? "dashed" : "solid"} ${colour}` }} />
      {name}
    </span>
  );
}

/** For those who cannot see the lines. */
function described(unit: number, lines: readonly UnitLine[]): string {
  const spans = lines.map(({ name, values }) => {
    const finite = values.filter(Number.isFinite);
    return finite.length === 0 ? `${name} without a finite value` : `${name} from ${short(Math.min(...finite))} to ${short(Math.max(...finite))}`;
  });
  return `Unit ${unit} over timesteps: ${spans.join(", ")}`;
}
