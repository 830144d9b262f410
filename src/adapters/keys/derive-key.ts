/**
 * The purposes that have a key of their own. A label never changes: what was signed or sealed under
 * it must stay valid after a deploy. New purposes add a label here.
 *
 * | use | file | key |
 * |---|---|---|
 * | approval tokens | jose-approval-signer.ts | label `approval-token` |
 * | embed tokens | embed-tokens.ts | label `embed-token` |
 * | summaries of removed audit records | audit-signer.ts | label `audit-removal` |
 * | cursors of lists | sealed-cursors.ts | label `cursor` |
 * | fingerprints of what leaves a run | hmac-fingerprints.ts | label `fingerprint` |
 * | hashes of names that a person used | hmac-used-names.ts | label `used-name` |
 * | run ids, and run ids of an `Idempotency-Key` | hmac-run-ids.ts | no label: the root secret
 * itself |
 *
 * During a rotation each of them, except cursors and used names, also verifies with the older
 * secret.
 *
 * Run ids are the exception, for compatibility. A run id that an older release made, and the run of
 * an older `Idempotency-Key`, must be found again, so their derivation stays as it was.
 * Connections do not use the root secret; CONNECTION_KEYS holds their keys.
 */
export type KeyLabel =
  | "approval-token"
  | "embed-token"
  | "cursor"
  | "fingerprint"
  | "audit-removal"
  | "used-name";

/**
 * Derives the key of one purpose from the root secret RUN_ID_SECRET (HKDF-SHA-256, RFC 5869), so
 * that a text signed for one purpose never verifies for another. Returns 32 bytes.
 */
export async function deriveKey(
  rootSecret: string,
  label: KeyLabel,
): Promise<Uint8Array<ArrayBuffer>> {
  const utf8 = new TextEncoder();
  const root = await crypto.subtle.importKey("raw", utf8.encode(rootSecret), "HKDF", false, [
    "deriveBits",
  ]);
  const info = utf8.encode(`interlock/${label}`);
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, root, KEY_BITS));
}

const KEY_BITS = 256;
