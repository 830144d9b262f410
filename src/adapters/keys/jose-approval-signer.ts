import { CompactSign, compactVerify } from "jose";
import type { ApprovalSigner } from "../../capabilities/approval.ts";
import type { ApprovalToken } from "../../protocol/approval/record.ts";
import { lazily } from "../../protocol/text/lazily.ts";
import { deriveKey } from "./derive-key.ts";

/** The type of approval tokens, so that no other signed text passes for an approval. */
const TYPE = "approval+jws";

/** Signs and reads approval tokens as JWS, under a key that is derived from the root secret. */
export function createApprovalSigner(rootSecret: string, olderSecret?: string): ApprovalSigner {
  // Derived on first use: every run has a signer, and few runs request approval.
  const keyOf = lazily(() => deriveKey(rootSecret, "approval-token"));
  return {
    async sign(token) {
      const payload = new TextEncoder().encode(JSON.stringify(token));
      return new CompactSign(payload)
        .setProtectedHeader({ alg: "HS256", typ: TYPE })
        .sign(await keyOf());
    },
    async read(signed) {
      const token = await readWith(signed, await keyOf());
      if (token || olderSecret === undefined) return token;
      return readWith(signed, await deriveKey(olderSecret, "approval-token"));
    },
  };
}

async function readWith(signed: string, key: Uint8Array): Promise<ApprovalToken | undefined> {
  try {
    const { payload, protectedHeader } = await compactVerify(signed, key, {
      algorithms: ["HS256"],
    });
    if (protectedHeader.typ !== TYPE) return undefined;
    return JSON.parse(new TextDecoder().decode(payload)) as ApprovalToken;
  } catch {
    // The library throws for a wrong signature and for text that is no JWS alike.
    return undefined;
  }
}
