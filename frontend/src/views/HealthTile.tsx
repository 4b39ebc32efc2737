// One tile: a gate's number in words, as a disc and a colour, and its tiny line over the training steps.

import { opened, shownFindings } from "../findings";
import { tops } from "../health";
import { axis } from "../line";
import { count } from "../model/format";
import { heading, ICONS, keyOf, worstOf } from "../model/findings";
import { tileValue, type Tile, type TileValue } from "../model/health";
import { trendPath } from "../model/healthTrend";
import { colourOf, colourScale, gateColour, missingColour } from "../palette";
import { asked } from "../selection";
import { step } from "../state";
import { theme } from "../theme";
import type { Tip } from "./HealthGrid";

interface Props {
  readonly tile: Tile;
  readonly cell: string;
  readonly isReachable: boolean;
  readonly isChosenLayer: boolean;
  readonly onFocus: () => void;
  readonly onChoose: () => void;
  readonly onTip: (tip: Tip | null) => void;
}

export function HealthTile({ tile, cell, isReachable, isChosenLayer, onFocus, onChoose, onTip }: Props) {
  const top = tops.value.get(tile.measure) ?? 0;
  const value = tileValue(tile, step.value ?? Infinity, top);
  const finding = worstOf(shownFindings.value, tile.layer.id, tile.gate);
  const when = value.step === null ? "" : `training step ${count(value.step)}`;
  const title = `${tile.layer.id} · ${tile.name}${tile.gate === tile.name ? " gate" : ""}`;
  const showTip = (event: Event): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    onTip({ content: { title, lines: [], more: [value.sentence, when, finding ? heading(finding) : ""].filter(Boolean) }, x: box.left + 20, y: box.bottom - 8 });
  };
  return (
    <div role="gridcell" aria-selected={isChosenLayer && tile.gate !== null && tile.gate === asked.gate.value}>
      <button
        type="button"
        class="tile"
        tabIndex={isReachable ? 0 : -1}
        aria-label={`${tile.layer.id}, ${tile.name} ${value.text}: ${[value.sentence, when, finding ? `${finding.severity}: ${heading(finding)}` : ""].filter(Boolean).join(", ")}`}
        data-cell={cell}
        data-testid={`tile-${tile.name}`}
        style={{ borderLeftColor: edgeColour(tile, value) }}
        onClick={() => {
          if (finding) opened.value = keyOf(finding);
          onChoose();
        }}
        onFocus={(event) => {
          onFocus();
          if (event.currentTarget.matches(":focus-visible")) showTip(event);
        }}
        onBlur={() => onTip(null)}
        onMouseEnter={showTip}
        onMouseLeave={() => onTip(null)}
      >
        <span class="tile-name">{tile.name}</span>{" "}
        <Trend tile={tile} top={top} />
        <b>{value.text}</b>
        {finding ? (
          <span class={`is-${finding.severity}`} data-testid="tile-finding">
            <i class="severity">{ICONS[finding.severity]}</i>
          </span>
        ) : (
          <Disc value={value} />
        )}
      </button>
    </div>
  );
}

/** Its colours are those of the maps below: the more open, the brighter. */
function edgeColour({ measure }: Tile, { level, isFinite }: TileValue): string {
  if (!isFinite) return missingColour(theme.value);
  if (Number.isNaN(level)) return "transparent";
  const isShare = measure === "nearly_open" || measure === "nearly_closed";
  const scale = colourScale({ ramp: isShare ? "sequential" : "grey", low: 0, high: 1 }, theme.value);
  return `rgb(${colourOf(scale, measure === "nearly_closed" ? 1 - level : level).join(",")})`;
}

function Trend({ tile, top }: { readonly tile: Tile; readonly top: number }) {
  const colour = gateColour(tile.gate ?? tile.name, theme.value);
  return (
    <span class="trend" aria-hidden="true">
      <svg viewBox="0 0 100 100" preserveAspectRatio="none">
        <path d={trendPath(tile, axis.value, top)} style={{ stroke: colour }} />
      </svg>
      {step.value !== undefined && <i style={{ left: `${100 * axis.value(step.value)}%` }} />}
    </span>
  );
}

/** Fills clockwise with the number; a cross where some entries are no numbers. */
function Disc({ value: { level, isFinite } }: { readonly value: TileValue }) {
  if (!isFinite) return <span class="not-finite disc" aria-hidden="true">✕</span>;
  if (Number.isNaN(level)) return <span class="disc" />;
  const angle = 2 * Math.PI * level;
  const end = `${(7 + 5 * Math.sin(angle)).toFixed(2)} ${(7 - 5 * Math.cos(angle)).toFixed(2)}`;
  return (
    <svg class="disc" viewBox="0 0 14 14" aria-hidden="true">
      <circle cx="7" cy="7" r="5" />
      {level > 0.995 ? <circle class="full" cx="7" cy="7" r="5" /> : <path d={`M7 7V2A5 5 0 ${level > 0.5 ? 1 : 0} 1 ${end}Z`} />}
    </svg>
  );
}
