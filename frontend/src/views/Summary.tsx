// The first line: what is shown, and how old it is.

import { useEffect, useState } from "preact/hooks";
import { ago, count, plural } from "../model/format";
import { layerId, run } from "../state";
import { CopyLink } from "./CopyLink";

export function Summary() {
  const shown = run.value;
  if (!shown) return null;
  return (
    <div class="summary" data-testid="summary">
      <h1>
        {shown.name}
        <span>
          {`${plural(shown.layers.length, "layer")}, logged up to training step ${count(shown.last_step)}`}
          {layerId.value && (
            <>
              {" · showing "}
              <b>{layerId.value}</b>
            </>
          )}
        </span>
      </h1>
      <CopyLink />
      <Age wallTime={shown.last_wall_time} />
    </div>
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
