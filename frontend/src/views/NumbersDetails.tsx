// A table of numbers behind a line that opens it; it is made only once it is open.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  /** What the numbers are, for those who cannot see where they stand. */
  readonly label: string;
  readonly testId?: string;
  readonly children: () => ComponentChildren;
}

export function NumbersDetails({ label, testId, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="numbers-table" data-testid={testId} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>numbers as a table</summary>
      {isOpen && (
        <div class="scrolled" tabIndex={0} role="region" aria-label={label}>
          <table>{children()}</table>
        </div>
      )}
    </details>
  );
}
