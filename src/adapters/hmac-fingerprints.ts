import type { Fingerprints } from "../capabilities/fingerprints.ts";
import { toHex } from "../protocol/text/hex.ts";
import { deriveKey } from "./derive-key.ts";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

/**
 * Makes fingerprints with HMAC-SHA-256 over tenant, run and value, under a key that is derived from
 * the root secret. The run is part of it, so that nobody learns a value of another person's run by
 * making calls with guessed values in a run of their own.
 */
export function createFingerprints(rootSecret: string): Fingerprints {
  let imported: Promise<CryptoKey> | undefined;
  // Derived on first use: many runs end without a tool call.
  const keyOf = (): Promise<CryptoKey> => (imported ??= importKey(rootSecret));
  return {
    async of({ tenantId, runId }, value) {
      const text = new TextEncoder().encode(JSON.stringify([tenantId, runId, value]));
      const signature = await crypto.subtle.sign(ALGORITHM, await keyOf(), text);
      return `hmac-sha256:${toHex(new Uint8Array(signature))}`;
    },
  };
}

async function importKey(rootSecret: string): Promise<CryptoKey> {
  const key = await deriveKey(rootSecret, "fingerprint");
  return crypto.subtle.importKey("raw", key, ALGORITHM, false, ["sign"]);
}
