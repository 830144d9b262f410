import type { LoadedPolicy, PolicyStore } from "../capabilities/policy-store.ts";
import { DENY_ALL, parseToolPolicy } from "../protocol/tool-policy.ts";

/** Seconds an isolate may answer from its own copy of a policy; KV allows no less than 30. */
const CACHE_TTL_SECONDS = 30;

/**
 * Reads policies from KV, one JSON document under `policy/<tenant>`. Fails closed: an error, a gap or
 * garbage denies everything.
 */
export function createKvPolicyStore(kv: KVNamespace): PolicyStore {
  return {
    async load(tenantId) {
      let text: string | null;
      try {
        text = await kv.get(`policy/${tenantId}`, { cacheTtl: CACHE_TTL_SECONDS });
      } catch {
        return denied("unreadable");
      }
      if (text === null) return denied("missing");
      try {
        const policy = parseToolPolicy(JSON.parse(text));
        return policy ? { policy } : denied("invalid");
      } catch {
        return denied("invalid");
      }
    },
  };
}

function denied(deniedBecause: NonNullable<LoadedPolicy["deniedBecause"]>): LoadedPolicy {
  return { policy: DENY_ALL, deniedBecause };
}
