// The gradient at each timestep of one sample: norms by the states as lines, and by gate as a heatmap.

import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { pin, pinColumn } from "../actions";
import type { GradientsHeader } from "../api";
import { cellBeside, type Cell } from "../heatmap";
import { columnName, keptSamples, sampleName, sampleWord } from "../model/activations";
import { exact, plural } from "../model/format";
import { shareOf } from "../model/figure";
import { gatesOnScreen, words } from "../model/gates";
import { gapSpans, gatesWithNorms, gradientSample, normFigure, normsAt, type GradientSample } from "../model/gradients";
import { heatmapsPerLine, widestHeatmap } from "../model/layout";
import { countNotFinite } from "../model/matrix";
import { missingColour, normColour, zeroColour } from "../palette";
import type { Payload } from "../safetensors";
import { asked } from "../selection";
import { hoverColumn, markedColumn, sampleIndex, snapshot as activations } from "../shown";
import { theme } from "../theme";
import { Chart } from "./Chart";
import { Heatmap } from "./Heatmap";
import { useWidth } from "./hooks";
import { ColourBar, Facts, Select, Swatch } from "./parts";
import { TimeAxis } from "./TimeAxis";
import { Tooltip, type TooltipContent } from "./Tooltip";

/** Room for the names of the gates and for the numbers of the norms, so that both have one time axis. */
const GUTTER = 84;
const MARGINS = { left: GUTTER, right: 0 };
const CHART_HEIGHT = 138;
const ROW_HEIGHT = 24;
const LEAST_HEIGHT = 72;
const PICTURES = 2;

interface Pointer {
  readonly column: number;
  readonly row: number | null;
  readonly x: number;
  readonly y: number;
}

export function NormMaps({ snapshot }: { readonly snapshot: Payload<GradientsHeader> }) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const [row, setRow] = useState(0);
  const chosen = shownSampleOf(snapshot);
  const gates = shownGates(snapshot);
  const sample = useMemo(() => gradientSample(snapshot, chosen, gates), [snapshot, chosen, gates.join()]);
  const perLine = heatmapsPerLine(width, sample.columns, PICTURES);
  const column = markedColumn.value;

  function hover(at: Pointer | null): void {
    setPointer(at);
    hoverColumn(at && at.column);
  }

  function movePinned(key: string): boolean {
    const cell = cellBeside(sample.matrix, column === undefined ? null : { row, column }, key);
    if (!cell) return false;
    hover(null);
    setRow(cell.row);
    if (asked.pinned.value?.column !== cell.column) pinColumn(cell.column);
    return true;
  }

  return (
    <div class="norms">
      <div class="norms-title">
        <h3>Gradient norm at each timestep</h3>
        <SamplePicker snapshot={snapshot} chosen={chosen} />
        <p class="facts">
          <Facts>{[sample.block > 1 && `one column per ${plural(sample.block, "timestep")}, the mean of their norms`]}</Facts>
        </p>
      </div>
      {asked.pinned.value && <PinnedNorms sample={sample} column={asked.pinned.value.column} />}
      <div class="maps" ref={container} style={{ gridTemplateColumns: `repeat(${perLine}, minmax(0, ${GUTTER + widestHeatmap(sample.columns)}px))` }}>
        <figure class="map">
          <figcaption>
            <b>by the states</b>
            <span class="meaning">
              {sample.lines.map(({ key, name, meaning }) => (
                <span key={key} class="line-key" title={meaning}>
                  <LineSample dashed={key === "direct"} colour={normColour(key, theme.value)} />
                  {name}
                </span>
              ))}
            </span>
          </figcaption>
          <NormChart sample={sample} onHover={hover} />
          <Indented>
            <TimeAxis sample={sample} />
          </Indented>
        </figure>
        <figure class="map">
          <figcaption>
            <b>by the pre-activation of each gate</b>
            <span class="meaning" />
            <NotFinite sample={sample} />
          </figcaption>
          <div class="with-names">
            <div class="row-names">
              {gates.map((gate) => (
                <span key={gate}>
                  <Swatch gate={gate} />
                  {words(gate)}
                </span>
              ))}
            </div>
            <Heatmap
              matrix={sample.matrix}
              range={sample.range}
              height={Math.max(LEAST_HEIGHT, ROW_HEIGHT * gates.length)}
              label="Norm of the gradient by the pre-activation, gates by timesteps"
              testId="gradient-map"
              mark={column === undefined ? null : { column, row: pointer?.row ?? (gates.length > 1 && asked.pinned.value ? row : undefined) }}
              onHover={(cell, x, y) => hover(cell && { ...cell, x, y })}
              onPick={(cell) => pickCell(cell, setRow)}
              onShiftKey={movePinned}
            />
          </div>
          <Indented>
            <TimeAxis sample={sample} />
            <Legend sample={sample} />
          </Indented>
        </figure>
      </div>
      {pointer && <Tooltip content={contentAt(sample, pointer)} x={pointer.x} y={pointer.y} />}
    </div>
  );
}

function pickCell(cell: Cell, setRow: (row: number) => void): void {
  setRow(cell.row);
  pinColumn(cell.column);
}

/** The same sample as the activations, where there are any. */
export function shownSampleOf(snapshot: Payload<GradientsHeader>): number {
  const wanted = activations.value ? sampleIndex.value : asked.sample.value;
  return Math.max(0, Math.min(wanted, keptSamples(snapshot) - 1));
}

export function shownNorms(snapshot: Payload<GradientsHeader>): GradientSample {
  return gradientSample(snapshot, shownSampleOf(snapshot), shownGates(snapshot));
}

function shownGates(snapshot: Payload<GradientsHeader>): string[] {
  const gates = gatesWithNorms(snapshot, gatesOnScreen(snapshot.header.layer.gates));
  return gates.includes(asked.gate.value) ? [asked.gate.value] : gates;
}

function SamplePicker({ snapshot, chosen }: { readonly snapshot: Payload<GradientsHeader>; readonly chosen: number }) {
  const kept = activations.value ? keptSamples(activations.value) : keptSamples(snapshot);
  const samples = Array.from({ length: Math.min(kept, keptSamples(snapshot)) }, (_, sample) => sample);
  return (
    <Select
      label={sampleWord(snapshot)}
      testId="gradient-sample"
      chosen={String(chosen)}
      options={samples.map((sample) => ({ value: String(sample), text: sampleName(snapshot, sample) }))}
      onChoose={(value) => (asked.sample.value = Number(value))}
    />
  );
}

function NormChart({ sample, onHover }: { readonly sample: GradientSample; readonly onHover: (pointer: Pointer | null) => void }) {
  const figure = useMemo(() => normFigure(sample, (key) => normColour(key, theme.value), missingColour(theme.value)), [sample, theme.value]);
  const columnAt = (place: number): number => Math.min(sample.columns - 1, Math.floor(place * sample.columns));
  const column = markedColumn.value;
  return (
    <Chart
      figure={figure}
      height={CHART_HEIGHT}
      margins={MARGINS}
      label="Norms of the gradient by the hidden state and the cell state, over timesteps"
      testId="norm-chart"
      onHover={(place, x, y) => onHover(place === null ? null : { column: columnAt(place), row: null, x, y })}
      onPick={(place) => pinColumn(columnAt(place))}
    >
      {gapSpans(sample.matrix.gaps).map(([first, end]) => (
        <i key={first} class="gap" style={spanStyle(first, end, sample.columns)} />
      ))}
      {column !== undefined && column < sample.columns && <i class="guide pointer" style={{ left: `${100 * shareOf([0, sample.columns], column + 0.5)}%` }} />}
    </Chart>
  );
}

function spanStyle(first: number, end: number, columns: number) {
  return { left: `${(100 * first) / columns}%`, width: `${(100 * (end - first)) / columns}%` };
}

function LineSample({ colour, dashed }: { readonly colour: string; readonly dashed: boolean }) {
  return <i class="line-sample" style={{ borderTop: `2px ${dashed ? "dashed" : "solid"} ${colour}` }} />;
}

function Indented({ children }: { readonly children: ComponentChildren }) {
  return <div style={{ marginLeft: `${GUTTER}px` }}>{children}</div>;
}

/** What each colour stands for, also those that are no sizes. */
function Legend({ sample: { range } }: { readonly sample: GradientSample }) {
  return (
    <p class="legend" data-testid="gradient-legend">
      {range.high > range.low && (
        <span>
          <ColourBar range={range} />
          {" log scale, for all samples"}
        </span>
      )}
      <span>
        <i class="swatch outlined" style={{ background: zeroColour(theme.value) }} />
        zero: nothing arrives
      </span>
      <span>
        <i class="swatch" style={{ background: missingColour(theme.value) }} />
        NaN or infinite
      </span>
      <span>
        <i class="swatch masked" />
        masked: not run
      </span>
    </p>
  );
}

function NotFinite({ sample }: { readonly sample: GradientSample }) {
  const number = countNotFinite(sample.matrix);
  return number === 0 ? null : <span class="not-finite">{number} NaN or Inf</span>;
}

function PinnedNorms({ sample, column }: { readonly sample: GradientSample; readonly column: number }) {
  const masked = sample.matrix.gaps?.[column];
  return (
    <div class="pinned" data-testid="pinned-norms">
      <b>{columnName(sample, column)}</b>
      {column >= sample.columns && <span>is not in this sequence</span>}
      {masked && <span>{MASKED}</span>}
      {column < sample.columns &&
        !masked &&
        linesAt(sample, column).map(({ key, name, value, colour }) => (
          <span key={key} data-testid={`pinned-norm-${key}`}>
            <Swatch gate={key} colour={colour} />
            {`${name} `}
            <b>{value}</b>
          </span>
        ))}
      <button type="button" aria-label="Let go of the pinned timestep" title="Let go (Escape)" onClick={() => pin(null)}>
        ×
      </button>
    </div>
  );
}

const MASKED = "This timestep was masked: the layer skipped it.";

function contentAt(sample: GradientSample, { column, row }: Pointer): TooltipContent {
  const masked = sample.matrix.gaps?.[column];
  const current = row === null ? undefined : sample.gates[row];
  return {
    title: columnName(sample, column),
    lines: masked ? [] : linesAt(sample, column).map((line) => ({ ...line, current: line.key === current })),
    more: masked ? [MASKED] : [],
  };
}

function linesAt(sample: GradientSample, column: number) {
  return normsAt(sample, column).map(({ key, name, value, dtype }) => ({
    key,
    name,
    value: exact(value, dtype),
    colour: sample.gates.includes(key) ? undefined : normColour(key, theme.value),
  }));
}
