// The lists at the side: runs, the layers of the chosen run, and a description of the chosen layer.

import { useState } from "preact/hooks";
import { chooseLayer, chooseRun } from "../actions";
import { matchesFilter } from "../model/filter";
import { compactCount, count, plural } from "../model/format";
import { describeLayer } from "../model/layer";
import { layerTree, treeLines, type TreeLine } from "../model/tree";
import { selfChecked } from "../shown";
import { health, layer, layerId, layerIds, run, runs } from "../state";
import { LazyList, type ListLine } from "./LazyList";

const FILTER_RUNS_FROM = 2;
const FILTER_LAYERS_FROM = 8;
const NOTHING_FOLDED: ReadonlySet<string> = new Set();

export function Sidebar() {
  return (
    <nav class="sidebar" aria-label="Runs and layers">
      <Runs />
      <Layers />
      <LayerDescription />
    </nav>
  );
}

function Runs() {
  const [text, set] = useState("");
  const list = runs.state.value.value ?? [];
  const shown = list.filter(({ name }) => matchesFilter(name, text));
  const lines = shown.map(
    (one): ListLine => ({
      key: one.run,
      title: `${one.name}\nlast training step ${count(one.last_step)}`,
      isChosen: one.run === run.value?.run,
      depth: 0,
      isFolded: null,
      choose: () => chooseRun(one.run),
      fold: () => undefined,
      content: <NameAndNumber name={one.name} number={compactCount(one.last_step)} />,
    }),
  );
  return (
    <section class="runs">
      <Heading text="Runs" shown={shown.length} total={list.length} />
      <LazyList label="Runs" testId="runs" role="listbox" lines={lines} filter={list.length >= FILTER_RUNS_FROM ? { text, set } : null} />
    </section>
  );
}

function Layers() {
  const [text, set] = useState("");
  const [folded, setFolded] = useState(NOTHING_FOLDED);
  const ids = layerIds.value;
  const shown = text === "" ? ids : ids.filter((id) => matchesFilter(id, text));
  const fold = (key: string): void => {
    const next = new Set(folded);
    if (!next.delete(key)) next.add(key);
    setFolded(next);
  };
  const units = new Map(health.state.value.value?.layers.map((entry) => [entry.layer.id, entry.layer.units]));
  const lines = treeLines(layerTree(shown), text === "" ? folded : NOTHING_FOLDED).map((line) =>
    layerLine(line, line.layer === null ? undefined : units.get(line.layer), () => fold(line.key)),
  );
  return (
    <section class="layers">
      <Heading text="Layers" shown={shown.length} total={ids.length} />
      <LazyList label="Layers" testId="layers" role="tree" lines={lines} filter={ids.length >= FILTER_LAYERS_FROM ? { text, set } : null} />
    </section>
  );
}

function layerLine({ key, label, layer: id, depth, hasChildren, isFolded }: TreeLine, units: number | undefined, fold: () => void): ListLine {
  return {
    key,
    title: id ?? label,
    isChosen: id === layerId.value,
    depth,
    isFolded: hasChildren ? isFolded : null,
    choose: id === null ? null : () => chooseLayer(id),
    fold,
    content: <NameAndNumber name={label} number={units === undefined ? "" : count(units)} about={units === undefined ? "" : plural(units, "unit")} />,
  };
}

function Heading({ text, shown, total }: { readonly text: string; readonly shown: number; readonly total: number }) {
  return (
    <h2>
      {text}
      {total > 1 && <span class="number">{shown === total ? count(total) : `${count(shown)} of ${count(total)}`}</span>}
    </h2>
  );
}

function NameAndNumber({ name, number, about }: { readonly name: string; readonly number: string; readonly about?: string }) {
  return (
    <>
      <span class="name">{name}</span>
      <span class="number" title={about}>
        {number}
      </span>
    </>
  );
}

function LayerDescription() {
  const { error } = health.state.value;
  if (error) {
    return (
      <section>
        <p class="quiet">{error}</p>
        <button type="button" onClick={health.retry}>
          Try again
        </button>
      </section>
    );
  }
  if (!layer.value) return null;
  return (
    <section class="description" data-testid="layer-description">
      <h2>Layer</h2>
      {describeLayer(layer.value).map((line) => (
        <p key={line} class="quiet">
          {line}
        </p>
      ))}
      {selfChecked.value && (
        <p class={selfChecked.value.passed ? "quiet" : "warning"} data-testid="self-check">
          {selfChecked.value.text}
        </p>
      )}
    </section>
  );
}
