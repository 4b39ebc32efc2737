// A button that copies the address of what is shown.

import { useEffect, useState } from "preact/hooks";
import { addressOfView } from "../host";
import { copy } from "../saving";

const SAID_MS = 4000;

export function CopyLink() {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSaid(""), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);

  async function copyAddress(): Promise<void> {
    try {
      await copy(addressOfView());
      setSaid("Copied");
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <span class="copy-link">
      <span role="status">{said}</span>
      <button type="button" title="Copy the address of this view: run, layer, training step and all that is chosen" data-testid="copy-link" onClick={() => void copyAddress()}>
        Copy link
      </button>
    </span>
  );
}
