// The lists at the side: runs, the layers of the chosen run, and a description of the chosen layer.

import { useState } from "preact/hooks";
import { chooseLayer, chooseRun } from "../actions";
import { matchesFilter } from "../model/filter";
import { compactCount, count } from "../model/format";
import { describeLayer } from "../model/layer";
import type { TreeNode } from "../model/tree";
import { selfChecked } from "../shown";
import { health, layer, layerId, run, runs, tree } from "../state";

const FILTER_FROM = 2;

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
  const [filter, setFilter] = useState("");
  const list = runs.state.value.value ?? [];
  const shown = list.filter(({ name }) => matchesFilter(name, filter));
  return (
    <section>
      {list.length >= FILTER_FROM && (
        <input
          type="search"
          placeholder="Filter runs"
          aria-label="Filter runs"
          data-testid="run-filter"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <h2>Runs</h2>
      <ul class="runs" data-testid="runs">
        {shown.map((one) => (
          <li key={one.run}>
            <button
              type="button"
              title={one.name}
              aria-current={one.run === run.value?.run ? "true" : undefined}
              onClick={() => chooseRun(one.run)}
            >
              <span class="name">{one.name}</span>
              <span class="number" title={`last training step ${count(one.last_step)}`}>
                {compactCount(one.last_step)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="quiet">No run has “{filter}” in its name.</p>}
    </section>
  );
}

function Layers() {
  return (
    <section>
      <h2>Layers</h2>
      <ul class="layers" data-testid="layers">
        <Nodes nodes={tree.value} />
      </ul>
    </section>
  );
}

function Nodes({ nodes }: { readonly nodes: readonly TreeNode[] }) {
  return (
    <>
      {nodes.map((node) => (
        <li key={node.label}>
          {node.layer === null ? <span class="group">{node.label}</span> : <LayerButton id={node.layer} label={node.label} />}
          {node.children.length > 0 && (
            <ul>
              <Nodes nodes={node.children} />
            </ul>
          )}
        </li>
      ))}
    </>
  );
}

function LayerButton({ id, label }: { readonly id: string; readonly label: string }) {
  const units = health.state.value.value?.layers.find((entry) => entry.layer.id === id)?.layer.units;
  return (
    <button type="button" title={id} aria-current={id === layerId.value ? "true" : undefined} onClick={() => chooseLayer(id)}>
      <span class="name">{label}</span>
      {units !== undefined && (
        <span class="number" title={`${count(units)} units`}>
          {count(units)}
        </span>
      )}
    </button>
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
    <section data-testid="layer-description">
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
