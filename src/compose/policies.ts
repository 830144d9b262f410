import { createKvPolicyStore } from "../adapters/kv-policy-store.ts";
import { PolicyCache } from "../adapters/policy-cache.ts";
import { systemClock } from "../adapters/system-clock.ts";
import type { PolicyStore } from "../capabilities/policy.ts";

/** One copy per isolate, shared by the Worker and the runs that live in it. */
const cache = new PolicyCache();

/** Assembles the policy store of this isolate. */
export function composePolicies(kv: KVNamespace): PolicyStore {
  return createKvPolicyStore({ kv, clock: systemClock, cache });
}
