// A value that is fetched, as a signal: loading, ready or failed, and the last good value meanwhile.

import { signal, type ReadonlySignal } from "@preact/signals";

export interface Fetched<Value> {
  readonly loading: boolean;
  /** The newest value that belongs to the current question; undefined before the first answer. */
  readonly value?: Value;
  /** One sentence, when the last attempt failed. */
  readonly error?: string;
}

export interface Resource<Value> {
  readonly state: ReadonlySignal<Fetched<Value>>;
  /** Asks under `question`; a new question forgets the old value unless `keep` says that it may stay meanwhile. */
  load(question: string, fetcher: (signal: AbortSignal) => Promise<Value>, keep?: boolean): void;
  /** Answers `question` with what is at hand; on demand `fetcher` asks again. */
  answer(question: string, value: Value, fetcher: (signal: AbortSignal) => Promise<Value>): void;
  retry(): void;
  clear(): void;
}

const NOTHING: Fetched<never> = { loading: false };

export function resource<Value>(): Resource<Value> {
  const state = signal<Fetched<Value>>(NOTHING);
  let asked = "";
  let running: AbortController | null = null;
  let again: () => void = () => undefined;

  function load(question: string, fetcher: (signal: AbortSignal) => Promise<Value>, keep = false): void {
    running?.abort();
    const controller = new AbortController();
    running = controller;
    const value = question === asked || keep ? state.peek().value : undefined;
    asked = question;
    again = () => load(question, fetcher, keep);
    state.value = { loading: true, value };
    fetcher(controller.signal).then(
      (answer) => {
        if (running === controller) state.value = { loading: false, value: answer };
      },
      (error: unknown) => {
        if (running === controller) state.value = { loading: false, value: state.peek().value, error: sentence(error) };
      },
    );
  }

  function answer(question: string, value: Value, fetcher: (signal: AbortSignal) => Promise<Value>): void {
    running?.abort();
    running = null;
    asked = question;
    again = () => load(question, fetcher);
    state.value = { loading: false, value };
  }

  function clear(): void {
    running?.abort();
    running = null;
    asked = "";
    state.value = NOTHING;
  }

  return { state, load, answer, retry: () => again(), clear };
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
