import type { Clock } from "../capabilities/system.ts";
import type { OriginIndex } from "../capabilities/identity.ts";
import { originKeyPrefix } from "../protocol/identity/web-origin.ts";

/** How long an isolate answers from its own copy. */
const CACHE_MS = 30_000;
/** Origins that are remembered, known and unknown; the oldest goes first. */
const MAX_REMEMBERED = 1_000;

/**
 * Reads the index out of KV: one entry for each origin and tenant, so that no two tenants ever write the
 * same one.
 */
export function createKvOriginIndex(kv: KVNamespace, clock: Clock): OriginIndex {
  const known = new Map<string, { readonly isListed: boolean; readonly untilMs: number }>();
  return {
    async isListed(origin) {
      const remembered = known.get(origin);
      if (remembered && remembered.untilMs > clock.nowMs()) return remembered.isListed;
      const isListed = await find(kv, origin);
      if (isListed === undefined) return false;
      known.delete(origin);
      known.set(origin, { isListed, untilMs: clock.nowMs() + CACHE_MS });
      const [oldest] = known.keys();
      if (oldest !== undefined && known.size > MAX_REMEMBERED) known.delete(oldest);
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
