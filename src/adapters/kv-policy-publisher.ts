import type { PolicyPublisher } from "../capabilities/policy-publisher.ts";
import { policyDocumentKey, policyPointerKey } from "../protocol/policy-pin.ts";

/**
 * Publishes policies in KV. Limit: KV takes one write per second for each key and refuses more, so a
 * refusal is ordinary.
 */
export function createKvPolicyPublisher(kv: KVNamespace): PolicyPublisher {
  const put = (key: string, value: string): Promise<boolean> =>
    kv.put(key, value).then(
      () => true,
      () => false,
    );
  return {
    storeDocument: (tenantId, { hash, text }) => put(policyDocumentKey(tenantId, hash), text),
    point: (tenantId, { revision, hash }) =>
      put(policyPointerKey(tenantId), JSON.stringify({ revision, hash })),
  };
}
