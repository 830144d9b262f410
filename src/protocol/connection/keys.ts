import * as v from "valibot";
import { parseJsonAs } from "../json/parse-as.ts";

/** Length of an AES-256 key. */
const KEY_BYTES = 32;

const key = v.pipe(
  v.string(),
  // 32 bytes in base64, as `openssl rand -base64 32` writes them.
  v.regex(/^[A-Za-z0-9+/]{43}=$/),
  v.transform((text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))),
  v.check((bytes) => bytes.length === KEY_BYTES),
);

const connectionKeys = v.pipe(
  v.array(v.strictObject({ id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,64}$/)), key })),
  v.minLength(1),
  v.maxLength(16),
  v.check((keys) => new Set(keys.map(({ id }) => id)).size === keys.length),
);

/** One key that seals connections; sealed values name it by its id. */
export interface ConnectionKey {
  readonly id: string;
  readonly key: Uint8Array<ArrayBuffer>;
}

/** The keys of a deployment: the first key seals, all keys open. */
export type ConnectionKeys = readonly [ConnectionKey, ...ConnectionKey[]];

/** Reads the secret CONNECTION_KEYS; undefined when the text is no valid list of keys. */
export function parseConnectionKeys(text: string): ConnectionKeys | undefined {
  const [first, ...rest] = parseJsonAs(connectionKeys, text) ?? [];
  return first && [first, ...rest];
}
