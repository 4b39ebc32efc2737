// The frame of a panel: title, facts, help, controls, and its own loading, empty and error states.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Table } from "../model/table";
import type { Resource } from "../resource";
import { Exports } from "./Exports";

interface Props {
  readonly title: string;
  readonly testId: string;
  readonly facts: ComponentChildren;
  /** Two sentences. */
  readonly help: string;
  readonly controls?: ComponentChildren;
  /** What the panel shows as it stands now, for the CSV file; no table while there is nothing. */
  readonly numbers: () => readonly Table[];
  readonly children: ComponentChildren;
}

export function Panel({ title, testId, facts, help, controls, numbers, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  const [helping, setHelping] = useState(false);
  return (
    <section class="panel" ref={panel} aria-label={title} data-testid={testId}>
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
        <Exports title={title} testId={testId} panel={panel} numbers={numbers} />
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
