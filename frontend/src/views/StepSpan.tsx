// From which to which training step something is drawn.

import type { Span } from "../model/figure";
import { asked } from "../selection";

export function StepSpan({ steps }: { readonly steps: readonly number[] }) {
  const [first, last] = [steps[0] ?? 0, steps.at(-1) ?? 0];
  const [from, to] = asked.span.value ?? [first, last];
  const choose = (span: Span): void => {
    asked.span.value = span[0] <= first && span[1] >= last ? null : [Math.min(...span), Math.max(...span)];
  };
  const field = (label: string, testId: string, value: number, onChange: (value: number) => void) => (
    <label class="select">
      <span>{label}</span>
      <input
        type="number"
        min={first}
        max={last}
        value={value}
        data-testid={testId}
        onChange={(event) => Number.isInteger(event.currentTarget.valueAsNumber) && onChange(event.currentTarget.valueAsNumber)}
      />
    </label>
  );
  return (
    <span class="step-span">
      {field("training steps", "span-from", from, (value) => choose([value, to]))}
      {field("to", "span-to", to, (value) => choose([from, value]))}
    </span>
  );
}
