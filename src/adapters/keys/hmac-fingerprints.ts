import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import { toHex } from "../../protocol/text/hex.ts";
import { lazily } from "../../protocol/text/lazily.ts";
import { deriveKey } from "./derive-key.ts";
import { createHmacRunIds } from "../run/hmac-run-ids.ts";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

/**
 * Makes fingerprints with HMAC-SHA-256 over tenant, run and value, under a key that is derived from
 * the root secret. The run is part of it, so that nobody learns a value of another person's run by
 * making calls with guessed values in a run of their own.
 */
export function createFingerprints(rootSecret: string, olderSecret?: string): Fingerprints {
  // Derived on first use: many runs end without a tool call.
  const current = lazily(() => importKey(rootSecret));
  const older = lazily(() => importKey(olderSecret ?? rootSecret));
  // A run that the older secret named keeps its fingerprints over a rotation.
  const olderIds = createHmacRunIds(olderSecret ?? rootSecret, () => new Uint8Array());
  return {
    async of({ tenantId, runId }, value) {
      const isOlder =
        olderSecret !== undefined && (await olderIds.verify(runId, tenantId)) !== undefined;
      const key = await (isOlder ? older() : current());
      const text = new TextEncoder().encode(JSON.stringify([tenantId, runId, value]));
      const signature = await crypto.subtle.sign(ALGORITHM, key, text);
      return `hmac-sha256:${toHex(new Uint8Array(signature))}`;
    },
  };
}

async function importKey(rootSecret: string): Promise<CryptoKey> {
  const key = await deriveKey(rootSecret, "fingerprint");
  return crypto.subtle.importKey("raw", key, ALGORITHM, false, ["sign"]);
}
