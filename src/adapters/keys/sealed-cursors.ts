import type { Cursors, CursorScope } from "../../capabilities/tenant.ts";
import { deriveKey } from "./derive-key.ts";
import { createKeyRing, type KeyRing } from "./key-ring.ts";

/** `<nonce>.<sealed position>`, both in base64url. */
const FORM = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,512})$/;
const KEY_ID = "cursor";

/**
 * Makes cursors that only a holder of the root secret can make or read. AES-256-GCM seals the
 * position for its scope. `randomBytes` supplies the nonces.
 */
export function createSealedCursors(
  rootSecret: string,
  randomBytes: (length: number) => Uint8Array<ArrayBuffer>,
): Cursors {
  const ring = openRing(rootSecret, randomBytes);
  return {
    async issue(place, scope) {
      const { nonce, sealed } = await (await ring).seal(place, formatScope(scope));
      return `${nonce}.${sealed}`;
    },
    async read(cursor, scope) {
      const [, nonce, sealed] = FORM.exec(cursor) ?? [];
      if (nonce === undefined || sealed === undefined) return undefined;
      return (await ring).open({ v: 1, key: KEY_ID, nonce, sealed }, formatScope(scope));
    },
  };
}

/** Formats each part without ambiguity: an absent filter differs from the text "null". */
function formatScope(scope: CursorScope): readonly string[] {
  return scope.map((part) => JSON.stringify(part));
}

async function openRing(
  rootSecret: string,
  randomBytes: Parameters<typeof createKeyRing>[1],
): Promise<KeyRing> {
  const key = await deriveKey(rootSecret, "cursor");
  return createKeyRing([{ id: KEY_ID, key }], randomBytes);
}
