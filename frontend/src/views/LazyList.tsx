// A list that may be long: only the lines in sight are drawn, a filter finds the others, and keys move through it.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { rowsInSight, scrollFor } from "../model/lazy";
import { useScroll } from "./scroll";

export interface ListLine {
  readonly key: string;
  readonly title: string;
  readonly content: ComponentChildren;
  readonly isChosen: boolean;
  /** How deep in the tree, from 0. */
  readonly depth: number;
  /** Null where there is nothing below it to fold. */
  readonly isFolded: boolean | null;
  /** Null for a group, which can only be folded. */
  readonly choose: (() => void) | null;
  readonly fold: () => void;
}

interface Filter {
  readonly text: string;
  readonly set: (text: string) => void;
}

interface Props {
  readonly label: string;
  readonly testId: string;
  readonly role: "listbox" | "tree";
  readonly lines: readonly ListLine[];
  /** Null where the list is short enough to look through. */
  readonly filter: Filter | null;
}

const LINE_HEIGHT = 26;
const INDENT = 13;

export function LazyList({ label, testId, role, lines, filter }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const { top, height } = useScroll(list);
  const [activeKey, setActiveKey] = useState("");
  const chosen = lines.findIndex(({ isChosen }) => isChosen);
  const own = lines.findIndex(({ key }) => key === activeKey);
  const active = own >= 0 ? own : chosen;
  const chosenKey = lines[chosen]?.key;
  const lastChosen = useRef(chosenKey);

  // Chosen elsewhere, it is what keys go on from; folded away, it was not chosen anew.
  useLayoutEffect(() => {
    if (chosenKey === undefined || chosenKey === lastChosen.current) return;
    lastChosen.current = chosenKey;
    setActiveKey("");
  }, [chosenKey]);
  useLayoutEffect(() => {
    const element = list.current;
    if (element && active >= 0) element.scrollTop = scrollFor(active, LINE_HEIGHT, element.scrollTop, element.clientHeight);
  }, [active, height, lines.length]);

  const goTo = (index: number): void => {
    const line = lines[Math.max(0, Math.min(lines.length - 1, index))];
    if (!line) return;
    setActiveKey(line.key);
    line.choose?.();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inFilter = event.target === input.current;
    const action = actions(inFilter)[event.key];
    if (action) event.preventDefault();
    // What is typed onto the list goes into the filter; the page's own keys rest meanwhile.
    if (action || inFilter || event.key.length === 1) event.stopPropagation();
    if (action) action();
    else if (!inFilter && event.key.length === 1) input.current?.focus();
  };
  const actions = (inFilter: boolean): Readonly<Record<string, (() => void) | undefined>> => {
    const line = lines[active];
    const page = Math.max(1, Math.floor(height / LINE_HEIGHT) - 1);
    const moves = {
      ArrowDown: () => goTo(active + 1),
      ArrowUp: () => goTo(active - 1),
      PageDown: () => goTo(active + page),
      PageUp: () => goTo(active - page),
      Enter: () => (line ? (line.choose ?? line.fold)() : goTo(0)),
    };
    if (inFilter) return filter?.text ? { ...moves, Escape: () => filter.set("") } : moves;
    return {
      ...moves,
      Home: () => goTo(0),
      End: () => goTo(lines.length - 1),
      " ": moves.Enter,
      ArrowLeft: line?.isFolded === false ? line.fold : line && line.depth > 0 ? () => goTo(parentOf(lines, active)) : undefined,
      ArrowRight: line?.isFolded ? line.fold : undefined,
    };
  };
  const { first, end } = rowsInSight(lines.length, LINE_HEIGHT, top, height);
  const activeId = active >= first && active < end ? `${testId}-${active}` : undefined;
  return (
    <div class="lazy" onKeyDown={onKeyDown}>
      {filter && (
        <input
          ref={input}
          type="search"
          placeholder={`Filter ${label.toLowerCase()}`}
          aria-label={`Filter ${label.toLowerCase()}`}
          aria-controls={testId}
          data-testid={`${testId}-filter`}
          value={filter.text}
          onInput={(event) => filter.set(event.currentTarget.value)}
        />
      )}
      <div
        ref={list}
        id={testId}
        class="lazy-lines"
        role={role}
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={activeId}
        data-testid={testId}
      >
        <div role="presentation" style={{ height: `${lines.length * LINE_HEIGHT}px` }}>
          {lines.slice(first, end).map((line, offset) => (
            <Line key={line.key} {...{ line, role, index: first + offset, total: lines.length, id: `${testId}-${first + offset}` }} isActive={first + offset === active} />
          ))}
        </div>
      </div>
      {lines.length === 0 && filter && <p class="quiet">{`No name in ${label.toLowerCase()} has “${filter.text}”.`}</p>}
    </div>
  );
}

interface LineProps {
  readonly line: ListLine;
  readonly role: Props["role"];
  readonly index: number;
  readonly total: number;
  readonly id: string;
  readonly isActive: boolean;
}

function Line({ line, role, index, total, id, isActive }: LineProps) {
  const place = role === "tree" ? { "aria-level": line.depth + 1 } : { "aria-posinset": index + 1, "aria-setsize": total };
  return (
    <div
      id={id}
      class={`line${isActive ? " active" : ""}${line.choose ? "" : " group"}`}
      role={role === "tree" ? "treeitem" : "option"}
      title={line.title}
      aria-selected={line.isChosen}
      aria-expanded={line.isFolded === null ? undefined : !line.isFolded}
      {...place}
      style={{ top: `${index * LINE_HEIGHT}px`, paddingLeft: `${8 + line.depth * INDENT}px` }}
      onClick={line.choose ?? line.fold}
    >
      {line.isFolded !== null && (
        <i
          class={line.isFolded ? "fold folded" : "fold"}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            line.fold();
          }}
        />
      )}
      {line.content}
    </div>
  );
}

function parentOf(lines: readonly ListLine[], index: number): number {
  const depth = lines[index]?.depth ?? 0;
  return lines.findLastIndex((line, at) => at < index && line.depth < depth);
}
