import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import type { ConnectionKey, ConnectionKeys } from "../../protocol/connection/keys.ts";
import type { SealedValue } from "../../protocol/connection/sealed-value.ts";
import { fromBase64url, toBase64url } from "./bytes.ts";

/** 96 bits, the recommended nonce length of AES-GCM (NIST SP 800-38D, 8.2). */
const NONCE_BYTES = 12;
const ALGORITHM = "AES-GCM";

/** What a sealed value belongs to. A value opens only for the subject that it was sealed for. */
export type SealSubject = readonly string[];

/** Seals texts with its first key, and opens them with the key that sealed them. */
export interface KeyRing {
  seal(text: string, subject: SealSubject): Promise<SealedValue>;
  /** Contract: answers undefined when the key is unknown or when value or subject was changed. */
  open(value: SealedValue, subject: SealSubject): Promise<string | undefined>;
}

/** Makes a key ring for AES-256-GCM; random bytes come from `randomBytes`. */
export function createKeyRing(
  keys: ConnectionKeys,
  randomBytes: (length: number) => Uint8Array<ArrayBuffer>,
): KeyRing {
  const [sealing] = keys;
  return {
    async seal(text, subject) {
      const nonce = randomBytes(NONCE_BYTES);
      const sealed = await crypto.subtle.encrypt(
        parameters(nonce, [...subject, sealing.id]),
        await importKey(sealing),
        new TextEncoder().encode(text),
      );
      const [encodedNonce, encoded] = [toBase64url(nonce), toBase64url(new Uint8Array(sealed))];
      return { v: 1, key: sealing.id, nonce: encodedNonce, sealed: encoded };
    },
    async open(value, subject) {
      const key = keys.find(({ id }) => id === value.key);
      if (!key) return undefined;
      try {
        const opened = await crypto.subtle.decrypt(
          parameters(fromBase64url(value.nonce), [...subject, key.id]),
          await importKey(key),
          fromBase64url(value.sealed),
        );
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(opened);
      } catch {
        // The platform throws for a wrong tag, a wrong length and invalid base64url alike.
        return undefined;
      }
    },
  };
}

/** Authenticates the subject and the key id, so that no value can move to another place. */
function parameters(
  nonce: Uint8Array<ArrayBuffer>,
  subject: SealSubject,
): SubtleCryptoEncryptAlgorithm {
  const additionalData = new TextEncoder().encode(toCanonicalJson(subject));
  return { name: ALGORITHM, iv: nonce, additionalData };
}

function importKey({ key }: ConnectionKey): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", key, ALGORITHM, false, ["encrypt", "decrypt"]);
}
