// The page: the lists at the side, and what is shown of the chosen layer.

import { generation, layerId, run, runs } from "../state";
import { Activations } from "./Activations";
import { Gradients } from "./Gradients";
import { Health } from "./Health";
import { NoData } from "./NoData";
import { Failure } from "./Panel";
import { RunsPanel } from "./RunsPanel";
import { Scrubber } from "./Scrubber";
import { Sidebar } from "./Sidebar";
import { Summary } from "./Summary";
import { Weights } from "./Weights";

export function App() {
  const { value, error } = runs.state.value;
  if (error && !value) return <Failure message={error} retry={runs.retry} />;
  if (!value) return <p class="loading">Loading…</p>;
  if (value.length === 0) return <NoData check={() => (generation.value += 1)} />;
  return (
    <div class="page">
      <Sidebar />
      <main>
        <Summary />
        {layerId.value ? (
          <>
            <Scrubber />
            <Health />
            <Activations />
            <Gradients />
            <Weights />
            <RunsPanel />
          </>
        ) : (
          <p class="empty">{`The run “${run.value?.name ?? ""}” holds no layer yet.`}</p>
        )}
      </main>
    </div>
  );
}
