import { CompactSign, compactVerify } from "jose";
import type { ApprovalSigner } from "../capabilities/approval.ts";
import type { ApprovalToken } from "../protocol/approval/record.ts";
import { deriveKey } from "./derive-key.ts";

/** The type of approval tokens, so that no other signed text passes for an approval. */
const TYPE = "approval+jws";

/** Signs and reads approval tokens as JWS, under a key that is derived from the root secret. */
export function createApprovalSigner(rootSecret: string): ApprovalSigner {
  let derived: Promise<Uint8Array> | undefined;
  // Derived on first use: every run has a signer, and few runs request approval.
  const keyOf = (): Promise<Uint8Array> => (derived ??= deriveKey(rootSecret, "approval-token"));
  return {
    async sign(token) {
      const payload = new TextEncoder().encode(JSON.stringify(token));
      return new CompactSign(payload)
        .setProtectedHeader({ alg: "HS256", typ: TYPE })
        .sign(await keyOf());
    },
    async read(signed) {
      try {
        const { payload, protectedHeader } = await compactVerify(signed, await keyOf(), {
          algorithms: ["HS256"],
        });
        if (protectedHeader.typ !== TYPE) return undefined;
        return JSON.parse(new TextDecoder().decode(payload)) as ApprovalToken;
      } catch {
        // The library throws for a wrong signature and for text that is no JWS alike.
        return undefined;
      }
    },
  };
}
