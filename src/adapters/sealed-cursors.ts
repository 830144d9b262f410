import type { Cursors, CursorScope } from "../capabilities/tenant.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";

/** `<nonce>.<sealed place>`, both in base64url. */
const FORM = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,512})$/;
/** Keeps this key apart from whatever else is made of the secret. */
const LABEL = "cursor";

/**
 * Makes cursors that only who knows the secret can make or read: AES-256-GCM, with the scope as what they
 * are sealed for; random bytes come from `randomBytes`.
 */
export function createSealedCursors(
  secret: string,
  randomBytes: (length: number) => Uint8Array<ArrayBuffer>,
): Cursors {
  const ring = openRing(secret, randomBytes);
  return {
    async issue(place, scope) {
      const { nonce, sealed } = await (await ring).seal(place, formatScope(scope));
      return `${nonce}.${sealed}`;
    },
    async read(cursor, scope) {
      const [, nonce, sealed] = FORM.exec(cursor) ?? [];
      if (nonce === undefined || sealed === undefined) return undefined;
      return (await ring).open({ v: 1, key: LABEL, nonce, sealed }, formatScope(scope));
    },
  };
}

/** Words each part so that nothing else has the same words: an absent filter is not the text "null". */
function formatScope(scope: CursorScope): readonly string[] {
  return scope.map((part) => JSON.stringify(part));
}

async function openRing(
  secret: string,
  randomBytes: Parameters<typeof createKeyRing>[1],
): Promise<KeyRing> {
  const text = new TextEncoder().encode(JSON.stringify([LABEL, secret]));
  const key = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return createKeyRing([{ id: LABEL, key }], randomBytes);
}
