import { toHex } from "../src/protocol/text/hex.ts";

/** The form of the ids that `createHmacRunIds` makes. */
const FORM = /^run_([0-9a-f]{32})_([0-9a-f]{32})$/;
const HALF_BYTES = 16;

/** A run's id as a column stores it: an id of the usual form in half of its size. */
export type PackedRunId = string | ArrayBuffer;

/** Packs a run's id. Contract: equal ids become equal values, and others others. */
export function packRunId(runId: string): PackedRunId {
  const [, nonce, tags] = FORM.exec(runId) ?? [];
  return nonce === undefined || tags === undefined ? runId : fromHex(nonce + tags);
}

/** Reads a packed id. */
export function unpackRunId(packed: PackedRunId): string {
  if (typeof packed === "string") return packed;
  const bytes = new Uint8Array(packed);
  return `run_${toHex(bytes.subarray(0, HALF_BYTES))}_${toHex(bytes.subarray(HALF_BYTES))}`;
}

/** Reads lower-case hex. Contract: the text is nothing else. */
export function fromHex(hex: string): ArrayBuffer {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  }
  return bytes.buffer;
}
