import * as v from "valibot";
import { parseJsonAs } from "../json/parse-as.ts";

const base64url = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/));

const sealedValue = v.strictObject({
  v: v.literal(1),
  /** Id of the key that opens the value. */
  key: v.string(),
  /** 96 bits. */
  nonce: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{16}$/)),
  /** Ciphertext and tag. */
  sealed: base64url,
});

/** A sealed secret as it is stored; bytes are base64url without padding. */
export type SealedValue = Readonly<v.InferOutput<typeof sealedValue>>;

/** Reads a stored value; undefined when the text is no sealed value. */
export function parseSealedValue(text: string): SealedValue | undefined {
  return parseJsonAs(sealedValue, text);
}
