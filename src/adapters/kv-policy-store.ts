import type { Clock } from "../capabilities/clock.ts";
import type { LoadedPolicy, PolicyStore } from "../capabilities/policy-store.ts";
import type { TenantId } from "../protocol/ids.ts";
import { DENY_ALL, parseToolPolicy } from "../protocol/tool-policy.ts";

/** How long an isolate answers from its own copy; KV itself allows no less. */
const CACHE_SECONDS = 30;
/** Tenants whose policy an isolate keeps; the oldest goes first. */
const MAX_CACHED = 1_000;

interface CachedPolicy {
  readonly loaded: LoadedPolicy;
  readonly untilMs: number;
}

/** Policies by tenant; lives as long as the isolate, so a composition root hands it in. */
export type PolicyCache = Map<TenantId, CachedPolicy>;

export interface KvPolicyPorts {
  readonly kv: KVNamespace;
  readonly clock: Clock;
  readonly cache: PolicyCache;
}

/**
 * Reads policies from KV, one JSON document under `policy/<tenant>`. Fails closed: an error, a gap or
 * garbage denies everything. Only documents that were found are kept here, so that a tenant's first policy
 * and a mended one count as soon as KV shows them.
 */
export function createKvPolicyStore({ kv, clock, cache }: KvPolicyPorts): PolicyStore {
  return {
    async load(tenantId) {
      const cached = cache.get(tenantId);
      if (cached && cached.untilMs > clock.nowMs()) return cached.loaded;
      const loaded = await readPolicy(kv, tenantId);
      cache.delete(tenantId);
      if (loaded.deniedBecause === undefined) {
        const [oldest] = cache.keys();
        if (oldest !== undefined && cache.size >= MAX_CACHED) cache.delete(oldest);
        cache.set(tenantId, { loaded, untilMs: clock.nowMs() + CACHE_SECONDS * 1_000 });
      }
      return loaded;
    },
    async read() {
      return Promise.resolve(denied("missing"));
    },
  };
}

async function readPolicy(kv: KVNamespace, tenantId: TenantId): Promise<LoadedPolicy> {
  let text: string | null;
  try {
    text = await kv.get(`policy/${tenantId}`, { cacheTtl: CACHE_SECONDS });
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
}

function denied(deniedBecause: NonNullable<LoadedPolicy["deniedBecause"]>): LoadedPolicy {
  return { policy: DENY_ALL, deniedBecause };
}
