import type { RunIds } from "../capabilities/run.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { RunOwner } from "../protocol/identity/viewer.ts";
import { toHex } from "../protocol/text/hex.ts";
import { sameBytes } from "./bytes.ts";

/**
 * `run_<nonce>_<mac>`. The nonce is 128 random bits, or 128 bits of HMAC-SHA-256 over owner and
 * idempotency key. The MAC is 128 bits of HMAC-SHA-256 over tenant and nonce.
 */
const FORM = /^run_([0-9a-f]{32})_([0-9a-f]{32})$/;
const HEX_CHARS = 32;

/**
 * Makes and verifies run ids; random bytes come from `randomBytes`. `olderSecret` only verifies.
 * Contract: the derivation is fixed, because an old run id and an old `Idempotency-Key` must find
 * their run after every deploy. It uses the root secret itself and not `deriveKey`.
 */
export function createHmacRunIds(
  rootSecret: string,
  randomBytes: (length: number) => Uint8Array<ArrayBuffer>,
  olderSecret?: string,
): RunIds {
  const current = createMac(rootSecret);
  const older = olderSecret === undefined ? undefined : createMac(olderSecret);
  return {
    mint: (tenantId) => idOf(current, tenantId, toHex(randomBytes(HEX_CHARS / 2))),
    derive: (owner, requestKey) => deriveId(current, owner, requestKey),
    async deriveOlder(owner, requestKey) {
      return older && deriveId(older, owner, requestKey);
    },
    async verify(text, tenantId) {
      const [, nonce, mac] = FORM.exec(text) ?? [];
      if (nonce === undefined || mac === undefined) return undefined;
      for (const sign of older ? [current, older] : [current]) {
        const expected = await sign("run-id", tenantId, nonce);
        if (sameBytes(utf8(mac), utf8(expected))) return text as RunId;
      }
      return undefined;
    },
  };
}

type Mac = (...parts: readonly string[]) => Promise<string>;

async function idOf(sign: Mac, tenantId: string, nonce: string): Promise<RunId> {
  return `run_${nonce}_${await sign("run-id", tenantId, nonce)}` as RunId;
}

async function deriveId(sign: Mac, owner: RunOwner, requestKey: string): Promise<RunId> {
  const { tenantId, actorId, subjectId = "", origin = "" } = owner;
  const parts = [tenantId, actorId, subjectId, origin, requestKey];
  return idOf(sign, tenantId, await sign("request-key", ...parts));
}

function createMac(secret: string): Mac {
  // Every run's object has these ids, and few objects make one.
  let imported: Promise<CryptoKey> | undefined;
  const importKey = (): Promise<CryptoKey> =>
    (imported ??= crypto.subtle.importKey(
      "raw",
      utf8(secret),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    ));
  return async (...parts) => {
    const signature = await crypto.subtle.sign(
      "HMAC",
      await importKey(),
      utf8(JSON.stringify(parts)),
    );
    return toHex(new Uint8Array(signature)).slice(0, HEX_CHARS);
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}
