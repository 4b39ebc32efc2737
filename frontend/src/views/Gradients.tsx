// The gradients panel: how far back the error reaches, and what arrives at each timestep, gate and weight.

import { normTables, reachTable } from "../model/exports";
import { count } from "../model/format";
import { reachCurve } from "../model/reach";
import type { Table } from "../model/table";
import { earlierGradients, calls, call, gradients, gradientsCall, layer, picture, snapshots, step } from "../state";
import { GradientTrends, shownTrends } from "./GradientTrends";
import { NoGradients } from "./NoGradients";
import { NormMaps, shownNorms, shownSampleOf } from "./NormMaps";
import { notesOf } from "./notes";
import { Notes, Panel, WhenReady } from "./Panel";
import { Facts } from "./parts";
import { ReachPanel } from "./ReachPanel";

const HELP =
  "The curve shows how much of the gradient is left so many timesteps before the output at which it arrives, carried back through this layer's recurrence alone: " +
  "what has faded below 1 % can hardly teach the weights anything. " +
  "Below it, for one sample: the size of the gradient by the states at each timestep, and by what goes into each gate (its pre-activation); " +
  "click a timestep to pin it, or move it with Shift and an arrow key.";

export function Gradients() {
  return (
    <Panel title="How far back the error reaches" testId="gradients" help={HELP} facts={<ShownFacts />} numbers={shownNumbers}>
      {layer.value?.cell === "unknown" ? (
        <p class="empty">The equations of this layer&rsquo;s cell are not known, so its gradients cannot be computed.</p>
      ) : (
        <>
          {calls.value.gradients.length === 0 ? <NoGradients /> : <Pictures />}
          <GradientTrends />
        </>
      )}
      <Notes sentences={[...notesOf("gradients"), ...notesOf("training_gradients"), ...earlierFailure()]} />
    </Panel>
  );
}

function shownNumbers(): Table[] {
  const now = gradients.state.value.value;
  if (!now) return shownTrends();
  const curves = [...(earlierGradients.state.value.value ?? []), now].map(reachCurve);
  return [reachTable(curves), ...normTables(shownNorms(now), shownSampleOf(now)), ...shownTrends()];
}

function Pictures() {
  if (snapshots.gradients.state.value.value && !picture.gradients.value) return <p class="empty">No picture of the gradients can be read.</p>;
  return (
    <WhenReady needs={[snapshots.gradients, gradients]}>
      {() => {
        const now = gradients.state.value.value;
        return (
          now && (
            <>
              <ReachPanel now={now} earlier={(earlierGradients.state.value.value ?? []).map(reachCurve)} />
              <NormMaps snapshot={now} />
            </>
          )
        );
      }}
    </WhenReady>
  );
}

function ShownFacts() {
  const header = gradients.state.value.value?.header;
  if (!header) return null;
  const positions = header.reach?.positions ?? 0;
  return (
    <Facts>
      {[
        "what is left of the gradient, by timesteps back",
        positions > 1 && `median over ${count(positions)} positions`,
        gradientsCall.value !== call.value && `call ${gradientsCall.value}`,
        header.step !== step.value && `picture of training step ${count(header.step)}`,
      ]}
    </Facts>
  );
}

function earlierFailure(): string[] {
  const { error } = earlierGradients.state.value;
  return error ? [`The lines of earlier training steps cannot be shown: ${error}`] : [];
}
