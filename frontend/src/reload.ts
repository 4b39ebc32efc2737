// Hears from TensorBoard that it has reloaded its data: a client of its "experimental" frame messages.

interface Message {
  readonly type: string;
  readonly id: number;
  readonly payload: unknown;
  readonly error: string | null;
  readonly isReply: boolean;
}

const BOOTSTRAP = "experimental.bootstrap";
const DATA_RELOADED = "experimental.DataReloaded";

/** Calls back after each reload, whether by the button or by the timer. */
export function watchReload(reloaded: () => void): void {
  if (window.parent === window) return;
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", (event: MessageEvent<unknown>) => {
    const message = parse(event.data);
    if (!message || message.isReply) return;
    // The host waits for an answer to each of its messages.
    port1.postMessage(JSON.stringify({ type: message.type, id: message.id, payload: null, error: null, isReply: true }));
    if (message.type === DATA_RELOADED) reloaded();
  });
  port1.start();
  window.parent.postMessage(BOOTSTRAP, "*", [port2]);
}

function parse(data: unknown): Message | null {
  try {
    return JSON.parse(String(data)) as Message;
  } catch {
    return null;
  }
}
