import { CompactSign, compactVerify } from "jose";
import type { ApprovalSigner } from "../capabilities/approval.ts";
import type { ApprovalToken } from "../protocol/approval/record.ts";
import { deriveKey } from "./derive-key.ts";

/** Keeps other signed texts of this deployment from passing for approvals. */
const TYPE = "approval+jws";

/** Signs approvals as JWS under a key of their own, derived from the deployment's secret. */
export function createApprovalSigner(rootSecret: string): ApprovalSigner {
  let derived: Promise<Uint8Array> | undefined;
  // Every run is given a signer, and few ask people.
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
        // The library throws for a wrong signature and for what is no signed text alike.
        return undefined;
      }
    },
  };
}
