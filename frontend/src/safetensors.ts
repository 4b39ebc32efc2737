// Reads safetensors bytes into named arrays: the one payload, from event file to canvas.

export type Values = Float64Array | Float32Array | Int32Array | Uint32Array | Uint8Array | number[];

export interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Row-major. F16 is widened to Float32Array, I64 to numbers. */
  readonly values: Values;
}

export interface Payload<Header> {
  /** The JSON under the one metadata key of this project. */
  readonly header: Header;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

const METADATA_KEY = "lstm_gates";
const LENGTH_BYTES = 8;
const ITEM_BYTES: Readonly<Record<string, number>> = { F64: 8, F32: 4, F16: 2, I32: 4, U32: 4, U8: 1, I64: 8 };

/** Decodes a whole payload; throws an Error with one sentence when the bytes are not one. */
export function decode<Header>(buffer: ArrayBuffer): Payload<Header> {
  const { json, dataStart } = readHeader(buffer);
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of Object.entries(json)) {
    if (name !== "__metadata__") tensors.set(name, readTensor(name, entry, buffer, dataStart));
  }
  return { header: readMetadata(json) as Header, tensors };
}

function readHeader(buffer: ArrayBuffer): { json: Record<string, unknown>; dataStart: number } {
  if (buffer.byteLength < LENGTH_BYTES) {
    throw new Error(`The record has ${buffer.byteLength} bytes; a safetensors record has at least ${LENGTH_BYTES}.`);
  }
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > buffer.byteLength - LENGTH_BYTES) {
    throw new Error(`The record's header should have ${length} bytes, but only ${buffer.byteLength - LENGTH_BYTES} follow.`);
  }
  const text = new TextDecoder().decode(new Uint8Array(buffer, LENGTH_BYTES, length));
  const json = parseJson(text, "The record's header");
  if (!isObject(json)) throw new Error("The record's header is not a JSON object.");
  return { json, dataStart: LENGTH_BYTES + length };
}

function readMetadata(json: Record<string, unknown>): unknown {
  const metadata = json["__metadata__"];
  const text = isObject(metadata) ? metadata[METADATA_KEY] : undefined;
  if (typeof text !== "string") {
    throw new Error(`The record has no "${METADATA_KEY}" metadata; it was not written by this plugin.`);
  }
  return parseJson(text, `The record's "${METADATA_KEY}" metadata`);
}

function readTensor(name: string, entry: unknown, buffer: ArrayBuffer, dataStart: number): Tensor {
  const { dtype, shape, data_offsets: offsets } = isObject(entry) ? entry : {};
  if (typeof dtype !== "string" || !isCounts(shape) || !isCounts(offsets) || offsets.length !== 2) {
    throw new Error(`The array "${name}" is not described by a dtype, a shape and two offsets.`);
  }
  const itemBytes = ITEM_BYTES[dtype];
  if (itemBytes === undefined) {
    throw new Error(`The array "${name}" has dtype ${dtype}; known are ${Object.keys(ITEM_BYTES).join(", ")}.`);
  }
  const [begin = 0, end = 0] = offsets;
  const count = shape.reduce((product, size) => product * size, 1);
  if (end - begin !== count * itemBytes) {
    throw new Error(`The array "${name}" of shape [${shape.join(", ")}] needs ${count * itemBytes} bytes, but has ${end - begin}.`);
  }
  if (dataStart + end > buffer.byteLength) {
    throw new Error(`The array "${name}" ends ${dataStart + end - buffer.byteLength} bytes behind the end of the record.`);
  }
  return { dtype, shape, values: readValues(dtype, buffer.slice(dataStart + begin, dataStart + end)) };
}

/** `bytes` is a copy of its own, so typed arrays over it are aligned. */
function readValues(dtype: string, bytes: ArrayBuffer): Values {
  switch (dtype) {
    case "F64":
      return new Float64Array(bytes);
    case "F32":
      return new Float32Array(bytes);
    case "F16":
      return Float32Array.from(new Uint16Array(bytes), halfToNumber);
    case "I32":
      return new Int32Array(bytes);
    case "U32":
      return new Uint32Array(bytes);
    case "U8":
      return new Uint8Array(bytes);
    default:
      return Array.from(new BigInt64Array(bytes), Number);
  }
}

/** IEEE 754 binary16, from its 16 bits. */
export function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${what} is not JSON.`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item) && item >= 0);
}
