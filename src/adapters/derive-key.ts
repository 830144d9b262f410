/**
 * Derives a key for one purpose from the deployment's secret (HKDF-SHA-256, RFC 5869), so that what is
 * signed for one purpose never passes for another.
 */
export async function deriveKey(secret: string, purpose: string): Promise<Uint8Array> {
  const utf8 = new TextEncoder();
  const from = await crypto.subtle.importKey("raw", utf8.encode(secret), "HKDF", false, [
    "deriveBits",
  ]);
  const info = utf8.encode(`interlock/${purpose}`);
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, from, KEY_BITS));
}

const KEY_BITS = 256;
