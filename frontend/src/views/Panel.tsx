// The frame of a panel: title, facts, help, controls, and its own loading, empty and error states.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Resource } from "../resource";

interface Props {
  readonly title: string;
  readonly testId: string;
  readonly facts: ComponentChildren;
  /** Two sentences. */
  readonly help: string;
  readonly controls?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Panel({ title, testId, facts, help, controls, children }: Props) {
  const [helping, setHelping] = useState(false);
  return (
    <section class="panel" aria-label={title} data-testid={testId}>
      <header>
        <h2>{title}</h2>
        <p class="facts">{facts}</p>
        <button
          type="button"
          class="help"
          aria-label={`What ${title} shows`}
          aria-expanded={helping}
          onClick={() => setHelping(!helping)}
        >
          ?
        </button>
        <div class="controls">{controls}</div>
      </header>
      {helping && <p class="help-text">{help}</p>}
      {children}
    </section>
  );
}

interface StateProps {
  /** What the panel draws, in the order in which it is fetched. */
  readonly needs: readonly Resource<unknown>[];
  readonly children: () => ComponentChildren;
}

/** The children once everything is there; until then, or when a fetch failed, that. */
export function WhenReady({ needs, children }: StateProps) {
  const states = needs.map(({ state }) => state.value);
  const failed = states.findIndex(({ error }) => error !== undefined);
  if (failed >= 0) return <Failure message={states[failed]?.error ?? ""} retry={() => needs[failed]?.retry()} />;
  if (states.some(({ value }) => value === undefined)) {
    return (
      <p class="loading" role="status">
        Loading…
      </p>
    );
  }
  return <div class={states.some(({ loading }) => loading) ? "content stale" : "content"}>{children()}</div>;
}

export function Failure({ message, retry }: { readonly message: string; readonly retry: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{message}</p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

/** Sentences of the server about what could not be shown as it is. */
export function Notes({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <>
      {sentences.map((sentence) => (
        <p key={sentence} class="note">
          {sentence}
        </p>
      ))}
    </>
  );
}
