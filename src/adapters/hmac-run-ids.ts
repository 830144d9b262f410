import type { RunIds } from "../capabilities/run.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import { toHex } from "../protocol/text/hex.ts";
import { sameBytes } from "./bytes.ts";

/**
 * `run_<nonce>_<mac>`. The nonce is 128 random bits, or 128 bits of HMAC-SHA-256 over owner and
 * idempotency key. The MAC is 128 bits of HMAC-SHA-256 over tenant and nonce.
 */
const FORM = /^run_([0-9a-f]{32})_([0-9a-f]{32})$/;
const HEX_CHARS = 32;

/**
 * Makes and verifies run ids; random bytes come from `randomBytes`.
 * Contract: the derivation is fixed, because an old run id and an old `Idempotency-Key` must find
 * their run after every deploy. It uses the root secret itself and not `deriveKey`.
 */
export function createHmacRunIds(
  rootSecret: string,
  randomBytes: (length: number) => Uint8Array<ArrayBuffer>,
): RunIds {
  // Every run's object has these ids, and few objects make one.
  let imported: Promise<CryptoKey> | undefined;
  const importKey = (): Promise<CryptoKey> =>
    (imported ??= crypto.subtle.importKey(
      "raw",
      utf8(rootSecret),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    ));
  const sign = async (...parts: readonly string[]): Promise<string> => {
    const signature = await crypto.subtle.sign(
      "HMAC",
      await importKey(),
      utf8(JSON.stringify(parts)),
    );
    return toHex(new Uint8Array(signature)).slice(0, HEX_CHARS);
  };
  const macOf = (tenantId: string, nonce: string): Promise<string> =>
    sign("run-id", tenantId, nonce);
  const idOf = async (tenantId: string, nonce: string): Promise<RunId> =>
    `run_${nonce}_${await macOf(tenantId, nonce)}` as RunId;
  return {
    mint: (tenantId) => idOf(tenantId, toHex(randomBytes(HEX_CHARS / 2))),
    async derive({ tenantId, actorId, subjectId = "", origin = "" }, requestKey) {
      const owner = [tenantId, actorId, subjectId, origin];
      return idOf(tenantId, await sign("request-key", ...owner, requestKey));
    },
    async verify(text, tenantId) {
      const [, nonce, mac] = FORM.exec(text) ?? [];
      if (nonce === undefined || mac === undefined) return undefined;
      const expected = await macOf(tenantId, nonce);
      return sameBytes(utf8(mac), utf8(expected)) ? (text as RunId) : undefined;
    },
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}
