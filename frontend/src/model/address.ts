// The selection as keys of TensorBoard's own URL hash: #lstm_gates&p.lstm_gates.run=...

export type Selection = Readonly<Record<string, string>>;

const PREFIX = "p.lstm_gates.";
const PLUGIN = "lstm_gates";

/** Our keys of a hash, decoded. What cannot be decoded is left out. */
export function parseHash(hash: string): Record<string, string> {
  const selection: Record<string, string> = {};
  for (const token of tokens(hash)) {
    const [key, value] = split(token);
    const name = decode(key);
    const text = decode(value);
    if (name?.startsWith(PREFIX) && text !== null) selection[name.slice(PREFIX.length)] = text;
  }
  return selection;
}

/** The same hash with our keys replaced by the selection; the host's own tab name and keys stay. */
export function withSelection(hash: string, selection: Selection): string {
  const others = tokens(hash).filter((token) => !decode(split(token)[0])?.startsWith(PREFIX));
  if (!others.some((token) => !token.includes("="))) others.unshift(PLUGIN);
  const ours = Object.entries(selection)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${encodeURIComponent(PREFIX + key)}=${encodeURIComponent(value)}`);
  return `#${[...others, ...ours].join("&")}`;
}

function tokens(hash: string): string[] {
  return hash.replace(/^#/, "").split("&").filter((token) => token !== "");
}

function split(token: string): [string, string] {
  const at = token.indexOf("=");
  return at < 0 ? [token, ""] : [token.slice(0, at), token.slice(at + 1)];
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
