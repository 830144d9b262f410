import type { PolicyPublisher } from "../../capabilities/policy.ts";
import { policyDocumentKey, policyPointerKey } from "../../protocol/policy/pin.ts";
import { originKeyPrefix } from "../../protocol/identity/web-origin.ts";

/**
 * Publishes policies in KV.
 * Limit: KV accepts one write per second for each key and refuses more, so refusals are normal.
 */
export function createKvPolicyPublisher(kv: KVNamespace): PolicyPublisher {
  const succeeds = (writing: Promise<void>): Promise<boolean> =>
    writing.then(
      () => true,
      () => false,
    );
  const put = (key: string, value: string): Promise<boolean> => succeeds(kv.put(key, value));
  return {
    storeDocument: (tenantId, { hash, text }) => put(policyDocumentKey(tenantId, hash), text),
    point: (tenantId, { revision, hash }) =>
      put(policyPointerKey(tenantId), JSON.stringify({ revision, hash })),
    listOrigin(tenantId, origin, isAdmitted) {
      const key = `${originKeyPrefix(origin)}${tenantId}`;
      return isAdmitted ? put(key, "") : succeeds(kv.delete(key));
    },
  };
}
