// The first line: what is shown, and how old it is.

import { useEffect, useState } from "preact/hooks";
import { findings, verdict } from "../findings";
import { ICONS } from "../model/findings";
import { ago, count, plural } from "../model/format";
import { layerId, run } from "../state";
import { CopyLink } from "./CopyLink";

export function Summary() {
  const shown = run.value;
  if (!shown) return null;
  return (
    <div data-testid="summary">
      <div class="summary">
        <Verdict />
        <CopyLink />
        <Age wallTime={shown.last_wall_time} />
      </div>
      <h1 class="run-line">
        <b>{shown.name}</b>
        {` ${plural(shown.layers.length, "layer")}, logged up to training step ${count(shown.last_step)}`}
        {layerId.value && (
          <>
            {" · showing "}
            <b>{layerId.value}</b>
          </>
        )}
      </h1>
    </div>
  );
}

/** What is to be said of the run, in one sentence. */
function Verdict() {
  const { error } = findings.state.value;
  const said = verdict.value;
  if (!said) return <p class="verdict loading">{error ?? "Looking for what may be wrong…"}</p>;
  return (
    <p class={`verdict is-${said.severity}`} data-testid="verdict">
      <i class="severity" role="img" aria-label={said.severity}>
        {ICONS[said.severity]}
      </i>
      {said.sentence}
    </p>
  );
}

function Age({ wallTime }: { readonly wallTime: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5000);
    return () => clearInterval(timer);
  }, []);
  const written = new Date(wallTime * 1000);
  return (
    <time dateTime={written.toISOString()} title={`last record written ${written.toLocaleString()}`}>
      updated {ago(Math.max(0, now / 1000 - wallTime))}
    </time>
  );
}
