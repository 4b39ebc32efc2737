// How to get gradients where none were logged.

import { calls } from "../state";

const KERAS = `lg.KerasCallback("logs/run-1",
                 probe=lg.Probe(x, target=y))`;
const TORCH = `probe = lg.Probe(x, target=y, loss=fn)
writer.log(model, step=step, probe=probe)`;
const TRAINING = `loss.backward()
writer.log_gradients(model, step=step)`;

export function NoGradients() {
  const isTrained = calls.value.training_gradients.length > 0;
  return (
    <div class="how-to" data-testid="no-gradients">
      <p class="quiet">
        {isTrained ? "No gradients through time were logged for this layer." : "No gradients were logged for this layer."} They need a loss: give the probe its target, and where the model does not
        know its own loss, also <code>loss=fn</code>, which is called with the outputs and the target.
      </p>
      <Example title="Keras, with the loss of compile()" code={KERAS} />
      <Example title="PyTorch and other loops" code={TORCH} />
      {!isTrained && <Example title="PyTorch, the weights' gradients of the training itself" code={TRAINING} />}
    </div>
  );
}

function Example({ title, code }: { readonly title: string; readonly code: string }) {
  return (
    <div>
      <h3>{title}</h3>
      <pre class="copyable">{code}</pre>
    </div>
  );
}
