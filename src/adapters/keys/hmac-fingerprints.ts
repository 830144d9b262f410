import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import { toHex } from "../../protocol/text/hex.ts";
import { lazily } from "../../protocol/text/lazily.ts";
import { deriveKey, type KeyLabel } from "./derive-key.ts";
import { createHmacRunIds } from "../run/hmac-run-ids.ts";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

/**
 * Makes fingerprints with HMAC-SHA-256 over tenant, run and value, under a key that is derived from
 * the root secret. The run is part of it, so that nobody learns a value of another person's run by
 * making calls with guessed values in a run of their own.
 */
export function createFingerprints(rootSecret: string, olderSecret?: string): Fingerprints {
  // Derived on first use: many runs end without a tool call.
  const current = lazily(() => importHmacKey(rootSecret, "fingerprint"));
  const older = lazily(() => importHmacKey(olderSecret ?? rootSecret, "fingerprint"));
  // A run that the older secret named keeps its fingerprints over a rotation.
  const olderIds = createHmacRunIds(olderSecret ?? rootSecret, () => new Uint8Array());
  return {
    async of({ tenantId, runId }, value) {
      const isOlder =
        olderSecret !== undefined && (await olderIds.verify(runId, tenantId)) !== undefined;
      const key = await (isOlder ? older() : current());
      return `hmac-sha256:${toHex(await signText(key, JSON.stringify([tenantId, runId, value])))}`;
    },
  };
}

/** Signs a text with HMAC-SHA-256. */
export async function signText(key: CryptoKey, text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign(ALGORITHM, key, new TextEncoder().encode(text)));
}

/** Derives the key with which one purpose signs. */
export async function importHmacKey(rootSecret: string, label: KeyLabel): Promise<CryptoKey> {
  const key = await deriveKey(rootSecret, label);
  return crypto.subtle.importKey("raw", key, ALGORITHM, false, ["sign"]);
}
