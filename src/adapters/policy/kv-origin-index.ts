import type { Clock } from "../../capabilities/system.ts";
import type { OriginIndex } from "../../capabilities/identity.ts";
import { originKeyPrefix } from "../../protocol/identity/web-origin.ts";

/** How long an isolate uses its cached answer. */
const CACHE_MS = 30_000;
/** Cached origins, listed or not; the oldest is dropped first. */
const MAX_CACHED = 1_000;

/**
 * Reads the origin index from KV. Each origin and tenant has its own entry, so two tenants never
 * write the same one.
 */
export function createKvOriginIndex(kv: KVNamespace, clock: Clock): OriginIndex {
  const cache = new Map<string, { readonly isListed: boolean; readonly untilMs: number }>();
  return {
    async isListed(origin) {
      const cached = cache.get(origin);
      if (cached && cached.untilMs > clock.nowMs()) return cached.isListed;
      const isListed = await find(kv, origin);
      if (isListed === undefined) return false;
      cache.delete(origin);
      cache.set(origin, { isListed, untilMs: clock.nowMs() + CACHE_MS });
      const [oldest] = cache.keys();
      if (oldest !== undefined && cache.size > MAX_CACHED) cache.delete(oldest);
      return isListed;
    },
  };
}

async function find(kv: KVNamespace, origin: string): Promise<boolean | undefined> {
  try {
    const { keys } = await kv.list({ prefix: originKeyPrefix(origin), limit: 1 });
    return keys.length > 0;
  } catch {
    return undefined;
  }
}
