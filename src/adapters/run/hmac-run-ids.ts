import type { RunIds } from "../../capabilities/run-ids.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { personOf } from "../../protocol/identity/principal.ts";
import type { RunOwner } from "../../protocol/identity/viewer.ts";
import { UNDO_OWNER } from "../../protocol/invocation/undo.ts";
import { toHex } from "../../protocol/text/hex.ts";
import { sameBytes } from "../keys/bytes.ts";

/**
 * `run_<nonce>_<owners><mac>`. The nonce is 128 random bits, or 128 bits of HMAC-SHA-256 over owner
 * and idempotency key. The owners are 32 bits of HMAC-SHA-256 over tenant, nonce and person, and 32
 * bits over the actor who started the run. The MAC is 64 bits of HMAC-SHA-256 over tenant, nonce
 * and owners.
 * Threat: a caller who got the id of a colleague's run learns from the time of the refusal that the
 * run exists. The owners let the Worker refuse the id as it refuses an invented one, before any
 * object wakes.
 */
const FORM = /^run_([0-9a-f]{32})_([0-9a-f]{8})([0-9a-f]{8})([0-9a-f]{16})$/;
const HEX_CHARS = 32;
const OWNER_CHARS = 8;
const MAC_CHARS = 16;

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
  const findSigner = async (text: string, tenantId: string): Promise<Mac | undefined> => {
    const [, nonce, person, starter, mac] = FORM.exec(text) ?? [];
    if (nonce === undefined || mac === undefined) return undefined;
    for (const sign of older ? [current, older] : [current]) {
      const expected = await macOf(sign, tenantId, `${nonce}_${person}${starter}`);
      if (sameBytes(utf8(mac), utf8(expected))) return sign;
    }
    return undefined;
  };
  return {
    mint: (owner) => idOf(current, owner, toHex(randomBytes(HEX_CHARS / 2))),
    derive: (owner, requestKey) => deriveId(current, owner, requestKey),
    async deriveOlder(owner, requestKey) {
      return older && deriveId(older, owner, requestKey);
    },
    async verify(text, tenantId) {
      return (await findSigner(text, tenantId)) && (text as RunId);
    },
    async verifyFor(text, viewer) {
      const { tenantId, seesAll, operates } = viewer;
      const sign = await findSigner(text, tenantId);
      const [, nonce = "", person, starter] = FORM.exec(text) ?? [];
      // An invented id takes this work too.
      const own = await ownerTag(sign ?? current, { tenantId, nonce, actor: viewer.person });
      const shared = await ownerTag(sign ?? current, { tenantId, nonce, actor: UNDO_OWNER });
      const mayOwn = own === person || own === starter || shared === person;
      return sign && (mayOwn || seesAll || operates) ? (text as RunId) : undefined;
    },
  };
}

type Mac = (...parts: readonly string[]) => Promise<string>;

async function idOf(sign: Mac, owner: RunOwner, nonce: string): Promise<RunId> {
  const { tenantId, actorId } = owner;
  const person = personOf(owner);
  const personTag = await ownerTag(sign, { tenantId, nonce, actor: person });
  const starterTag =
    actorId === person ? personTag : await ownerTag(sign, { tenantId, nonce, actor: actorId });
  const body = `${nonce}_${personTag}${starterTag}`;
  return `run_${body}${await macOf(sign, tenantId, body)}` as RunId;
}

async function macOf(sign: Mac, tenantId: string, body: string): Promise<string> {
  return (await sign("run-id", tenantId, body)).slice(0, MAC_CHARS);
}

/** The nonce is part of it, so that two ids do not tell that they have one owner. */
async function ownerTag(
  sign: Mac,
  { tenantId, nonce, actor }: { readonly [Part in "tenantId" | "nonce" | "actor"]: string },
): Promise<string> {
  return (await sign("run-owner", tenantId, nonce, actor)).slice(0, OWNER_CHARS);
}

async function deriveId(sign: Mac, owner: RunOwner, requestKey: string): Promise<RunId> {
  const { tenantId, actorId, subjectId = "", origin = "" } = owner;
  const parts = [tenantId, actorId, subjectId, origin, requestKey];
  return idOf(sign, owner, await sign("request-key", ...parts));
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
