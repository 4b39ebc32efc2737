// Small pieces that several panels use.

import type { ComponentChildren } from "preact";
import { short } from "../model/format";
import type { Range } from "../model/scales";
import { gateColour, gradient } from "../palette";
import { theme } from "../theme";

interface Choice<Key extends string> {
  readonly key: Key;
  readonly text: string;
  readonly title?: string;
}

interface SegmentedProps<Key extends string> {
  readonly label: string;
  readonly testId: string;
  readonly choices: readonly Choice<Key>[];
  readonly chosen: Key;
  readonly onChoose: (key: Key) => void;
}

/** A few choices side by side, of which one holds. */
export function Segmented<Key extends string>({ label, testId, choices, chosen, onChoose }: SegmentedProps<Key>) {
  return (
    <div class="segmented" role="group" aria-label={label} data-testid={testId}>
      {choices.map(({ key, text, title }) => (
        <button
          key={key}
          type="button"
          title={title}
          aria-pressed={key === chosen}
          data-testid={`${testId}-${key}`}
          onClick={() => onChoose(key)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

interface SelectProps {
  readonly label: string;
  readonly testId: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
}

export function Select({ label, testId, options, chosen, onChoose }: SelectProps) {
  return (
    <label class="select">
      <span>{label}</span>
      <select
        data-testid={testId}
        value={chosen}
        title={options.find(({ value }) => value === chosen)?.text}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The small square in a gate's own colour, or in another. */
export function Swatch({ gate, colour }: { readonly gate: string; readonly colour?: string }) {
  return <i class="swatch" style={{ background: colour ?? gateColour(gate, theme.value) }} />;
}

export function ColourBar({ range }: { readonly range: Range }) {
  const more = range.open ? "Values beyond the ends have the colour of the end; the tooltip has every value." : undefined;
  return (
    <span class="colour-bar" title={more}>
      {range.open ? "≤ " : ""}
      {short(range.low)}
      <i style={{ background: gradient(range.ramp, theme.value) }} />
      {range.open === true ? "≥ " : ""}
      {range.high > 0 && range.low < 0 ? "+" : ""}
      {short(range.high)}
    </span>
  );
}

/** A line of facts with dots between them. */
export function Facts({ children }: { readonly children: readonly ComponentChildren[] }) {
  const shown = children.filter(Boolean);
  return (
    <>
      {shown.map((fact, index) => (
        <span key={index} class="fact">
          {fact}
        </span>
      ))}
    </>
  );
}
