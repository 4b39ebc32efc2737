// The numbers of a panel as a table that any program reads: CSV after RFC 4180, one row per value.

export type CellValue = string | number;

/** One part of a panel. The first value of each row belongs to the first column, and so on. */
export interface Table {
  /** What the numbers are, in a few words: "activations", "distribution". */
  readonly part: string;
  readonly columns: readonly string[];
  readonly rows: Iterable<readonly CellValue[]>;
}

/** What all rows have in common; a table that has such a column itself overrules it. */
export type Context = Readonly<Record<string, CellValue>>;

const LINE_END = "\r\n";
const ROWS_PER_CHUNK = 10_000;
/** File systems end at 255 bytes of UTF-8 for a whole name. */
const MOST_BYTES_OF_PART = 60;

/** The text in chunks: a large picture has more of it than one string may hold. */
export function csv(context: Context, tables: readonly Table[]): string[] {
  const own = Array.from(new Set(tables.flatMap(({ columns }) => columns)));
  const columns = [...Object.keys(context).filter((name) => !own.includes(name)), "part", ...own];
  const chunks = [line(columns)];
  for (const { part, columns: names, rows } of tables) {
    const places = columns.map((name) => names.indexOf(name));
    const fixed = columns.map((name) => (name === "part" ? part : (context[name] ?? "")));
    // A column of another table's is empty here, unless it is the same for all.
    const written = fixed.map(cell);
    let lines: string[] = [];
    for (const row of rows) {
      lines.push(places.map((place, index) => (place < 0 ? (written[index] ?? "") : cell(row[place] ?? ""))).join(",") + LINE_END);
      if (lines.length < ROWS_PER_CHUNK) continue;
      chunks.push(lines.join(""));
      lines = [];
    }
    chunks.push(lines.join(""));
  }
  return chunks;
}

/** Letters of every script stay; what a file system or a shell could take for something else does not. */
export function fileName(parts: readonly string[], ending: string): string {
  const safe = parts.map((part) => start(part.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._-]+|[._-]+$/g, "")));
  return `${safe.filter((part) => part !== "").join("-")}.${ending}`;
}

/** As many whole characters as there is room for. */
function start(part: string): string {
  const room = new Uint8Array(MOST_BYTES_OF_PART);
  return part.slice(0, new TextEncoder().encodeInto(part, room).read);
}

function line(values: readonly CellValue[]): string {
  return values.map(cell).join(",") + LINE_END;
}

/** Spreadsheets run what starts with such a sign, so that a name gets an apostrophe before it; numbers stay. */
function cell(value: CellValue): string {
  if (typeof value === "number") return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
