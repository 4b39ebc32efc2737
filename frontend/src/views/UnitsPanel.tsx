// The frame of a small picture beside the maps: its title, its help and what it shows.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  readonly title: string;
  readonly testId: string;
  /** Two sentences. */
  readonly help: string;
  readonly children: ComponentChildren;
}

export function SmallPanel({ title, testId, help, children }: Props) {
  const [helping, setHelping] = useState(false);
  return (
    <section class="small-panel" aria-label={title} data-testid={testId}>
      <header>
        <h3>{title}</h3>
        <button type="button" class="help" aria-label={`What “${title}” shows`} aria-expanded={helping} onClick={() => setHelping(!helping)}>
          ?
        </button>
      </header>
      {helping && <p class="help-text">{help}</p>}
      {children}
    </section>
  );
}
