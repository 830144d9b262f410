import type { AuditSigner } from "../../capabilities/audit.ts";
import { fromHex, toBase64url } from "./bytes.ts";
import { lazily } from "../../protocol/text/lazily.ts";
import { deriveKey } from "./derive-key.ts";

/** What precedes the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const PKCS8_HEAD = fromHex("302e020100300506032b657004220420");

/**
 * Signs summaries of removed audit records under a key that is derived from the root secret. The
 * signature is public, so that an auditor needs no secret to verify it.
 */
export function createAuditSigner(rootSecret: string, olderSecret?: string): AuditSigner {
  const keys = lazily(() => deriveKeys(rootSecret));
  const sign: AuditSigner["sign"] = async (text) => signWith(await keys(), text);
  return {
    publicKey: async () => (await keys()).key,
    sign,
    async hasSigned(text, signature) {
      // An Ed25519 signature is the only one of its key and text.
      if ((await sign(text)) === signature) return true;
      if (olderSecret === undefined) return false;
      return (await signWith(await deriveKeys(olderSecret), text)) === signature;
    },
  };
}

async function signWith(
  { privateKey }: { readonly privateKey: CryptoKey },
  text: string,
): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  return toBase64url(new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, bytes)));
}

async function deriveKeys(
  rootSecret: string,
): Promise<{ readonly privateKey: CryptoKey; readonly key: string }> {
  const seed = await deriveKey(rootSecret, "audit-removal");
  const pkcs8 = new Uint8Array([...PKCS8_HEAD, ...seed]);
  const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x = "" } = (await crypto.subtle.exportKey("jwk", privateKey)) as JsonWebKey;
  return { privateKey, key: x };
}
