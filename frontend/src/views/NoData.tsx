// What to do when the log directory holds nothing of ours.

const INSTALL = "pip install .";
const SCRIPT = `import lstm_gates_plugin as lg

model.fit(..., callbacks=[lg.KerasCallback("logs/run-1", probe=x_val[:4])])`;
const SERVE = "tensorboard --logdir logs";

export function NoData({ check }: { readonly check: () => void }) {
  return (
    <main class="no-data" data-testid="no-data">
      <h1>No gates have been logged here yet</h1>
      <p>This tab shows what the gates of LSTM, GRU and other recurrent layers do while a model trains.</p>
      <h2>1. Where you train, in a clone of the project</h2>
      <Code text={INSTALL} />
      <h2>2. In your script</h2>
      <Code text={SCRIPT} />
      <p>
        <code>probe</code> is a few samples on which the gates are watched. Without it only the weights are logged.
      </p>
      <h2>3. Look</h2>
      <Code text={SERVE} />
      <p>
        <button type="button" onClick={check}>
          Look again
        </button>
      </p>
      <h2>Logged, and still nothing?</h2>
      <p>
        Is <code>--logdir</code> the folder that you gave to the callback, or one above it? TensorBoard&rsquo;s reload
        button (⟳) shows new runs.
      </p>
      <h2>No tab on another machine?</h2>
      <p>
        Install the package in the same Python environment that runs <code>tensorboard</code>, and start the server anew.
      </p>
    </main>
  );
}

/** Lines to copy: selected as a whole by one click. */
function Code({ text }: { readonly text: string }) {
  return <pre class="copyable">{text}</pre>;
}
