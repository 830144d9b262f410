import type { PolicyPublisher } from "../capabilities/policy.ts";
import { policyDocumentKey, policyPointerKey } from "../protocol/policy/pin.ts";
import { originKeyPrefix } from "../protocol/identity/web-origin.ts";

/**
 * Publishes policies in KV. Limit: KV takes one write per second for each key and refuses more, so a
 * refusal is ordinary.
 */
export function createKvPolicyPublisher(kv: KVNamespace): PolicyPublisher {
  const told = (writing: Promise<void>): Promise<boolean> =>
    writing.then(
      () => true,
      () => false,
    );
  const put = (key: string, value: string): Promise<boolean> => told(kv.put(key, value));
  return {
    storeDocument: (tenantId, { hash, text }) => put(policyDocumentKey(tenantId, hash), text),
    point: (tenantId, { revision, hash }) =>
      put(policyPointerKey(tenantId), JSON.stringify({ revision, hash })),
    listOrigin(tenantId, origin, isAdmitted) {
      const key = `${originKeyPrefix(origin)}${tenantId}`;
      return isAdmitted ? put(key, "") : told(kv.delete(key));
    },
  };
}
