// How the numbers of one row are distributed at each training step, as ridges or as bands of percentiles.

import { useMemo } from "preact/hooks";
import { binsOf, outlierSentences, valueRange, type Bins } from "../model/distribution";
import type { Span } from "../model/figure";
import { shapeSentence } from "../model/shapes";
import { gateOf, rowName } from "../model/weightRows";
import { count, plural } from "../model/format";
import type { Records } from "../model/records";
import { ALL_GATES, asked, type DistributionKind } from "../selection";
import { shapes } from "../shapes";
import { step } from "../state";
import { Bands } from "./Bands";
import { NumbersTable } from "./NumbersTable";
import { Facts, Segmented, Select } from "./parts";
import { Ridges } from "./Ridges";

const KINDS: readonly { readonly key: DistributionKind; readonly text: string; readonly title: string }[] = [
  { key: "ridges", text: "ridges", title: "One ridge per training step, the first at the back: how many of the numbers have each value" },
  { key: "bands", text: "bands", title: "Percentiles over training steps: half of the numbers lie in the darkest band" },
];

interface Props {
  readonly data: Records;
  readonly row: string;
  readonly rows: readonly string[];
  readonly name: string;
}

export function Distribution({ data, row, rows, name }: Props) {
  const all = useMemo(() => binsOf(data, row), [data, row]);
  const shown = useMemo(() => all.filter(({ step }) => isWithin(asked.span.value, step)), [all, asked.span.value]);
  const range = useMemo(() => valueRange(shown), [shown]);
  return (
    <section class="distribution" aria-label={`Distribution of ${name}`} data-testid="distribution">
      <div class="norms-title">
        <h3>Distribution over training</h3>
        <p class="facts">
          <Facts>{[`numbers at ${count(all.length)} of ${plural(data.header.log_calls, "log call")}`]}</Facts>
        </p>
      </div>
      <div class="distribution-tools">
        <Select
          label="of"
          testId="distribution-row"
          chosen={row}
          options={rows.map((value) => ({ value, text: rowName(value, data.header.layer.gates) }))}
          onChoose={chooseRow}
        />
        <Segmented label="How the distribution is drawn" testId="distribution-kind" choices={KINDS} chosen={asked.distribution.value} onChoose={chooseKind} />
      </div>
      <Drawn shown={shown} data={data} row={row} range={range} name={name} />
      <ShapeInWords />
      {outlierSentences(shown, range).map((sentence) => (
        <p key={sentence} class="quiet" data-testid="distribution-outliers">
          {sentence}
        </p>
      ))}
      <NumbersTable data={data} row={row} steps={shown.map(({ step }) => step)} name={name} />
    </section>
  );
}

function ShapeInWords() {
  const { value, error } = shapes.state.value;
  if (error) return <p class="quiet">{`The shape in words is missing: ${error}`}</p>;
  return (
    <p class="shape" data-testid="distribution-shape">
      {value && shapeSentence(value, step.value ?? Infinity)}
    </p>
  );
}

interface DrawnProps {
  readonly shown: readonly Bins[];
  readonly data: Records;
  readonly row: string;
  readonly range: Span;
  readonly name: string;
}

function Drawn({ shown, data, row, range, name }: DrawnProps) {
  if (shown.length === 0) return <p class="empty">There are no numbers between these training steps.</p>;
  if (asked.distribution.value === "bands") return <Bands data={data} row={row} shown={shown} range={range} name={name} />;
  return <Ridges shown={shown} range={range} gate={gateOf(row)} name={name} />;
}

function chooseKind(kind: DistributionKind): void {
  asked.distribution.value = kind;
}

/** The chosen gate goes along, where one was chosen. */
function chooseRow(row: string): void {
  asked.row.value = row;
  if (asked.gate.value !== ALL_GATES) asked.gate.value = row.includes("/") ? gateOf(row) : ALL_GATES;
}

function isWithin(span: Span | null, step: number): boolean {
  return !span || (step >= span[0] && step <= span[1]);
}
