import type { RunIds } from "../capabilities/run-ids.ts";
import type { RunId } from "../protocol/ids.ts";
import { sameBytes } from "./same-bytes.ts";

/** `run_<nonce>_<mac>`: 128 random bits, and 128 bits of HMAC-SHA-256 over tenant and nonce. */
const FORM = /^run_([0-9a-f]{32})_([0-9a-f]{32})$/;
const HEX_CHARS = 32;

/** Makes run ids under a secret; random bytes come from `randomBytes`. */
export function createHmacRunIds(
  secret: string,
  randomBytes: (length: number) => Uint8Array<ArrayBuffer>,
): RunIds {
  const key = crypto.subtle.importKey(
    "raw",
    utf8(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const macOf = async (tenantId: string, nonce: string): Promise<string> => {
    const message = utf8(JSON.stringify(["run-id", tenantId, nonce]));
    return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await key, message)));
  };
  return {
    async mint(tenantId) {
      const nonce = toHex(randomBytes(HEX_CHARS / 2));
      return `run_${nonce}_${(await macOf(tenantId, nonce)).slice(0, HEX_CHARS)}` as RunId;
    },
    async verify(text, tenantId) {
      const [, nonce, mac] = FORM.exec(text) ?? [];
      if (nonce === undefined || mac === undefined) return undefined;
      const expected = (await macOf(tenantId, nonce)).slice(0, HEX_CHARS);
      return sameBytes(utf8(mac), utf8(expected)) ? (text as RunId) : undefined;
    },
  };
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
