import type { StorageMeter, StorageQuery, StorageUse } from "../../capabilities/storage.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";

const CACHE_MS = 30_000;
/** Cached figures; the oldest is dropped first. */
const MAX_FIGURES = 1_000;

export interface StorageMeterPorts {
  /** Asks the tenant's object. Fails: throws when it does not answer. */
  readonly ask: (tenantId: TenantId, query: StorageQuery) => Promise<StorageUse>;
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * Caches the figures of an isolate, so that most requests cost no hop. Between two reads it adds
 * what the isolate's own new runs store.
 */
export function createStorageMeter({ ask, clock }: StorageMeterPorts): StorageMeter {
  const figures = new Map<string, { use: StorageUse; readonly untilMs: number }>();
  const keyOf = (tenantId: TenantId, person: string): string => `${tenantId}/${person}`;
  return {
    async read(tenantId, query) {
      const key = keyOf(tenantId, query.person);
      const cached = figures.get(key);
      if (cached && cached.untilMs > clock.nowMs()) return cached.use;
      try {
        const use = await ask(tenantId, query);
        figures.delete(key);
        figures.set(key, { use, untilMs: clock.nowMs() + CACHE_MS });
        const [oldest] = figures.keys();
        if (oldest !== undefined && figures.size > MAX_FIGURES) figures.delete(oldest);
        return use;
      } catch {
        return cached?.use;
      }
    },
    add(tenantId, person, bytes) {
      const cached = figures.get(keyOf(tenantId, person));
      if (!cached) return;
      const { actorBytes, tenantBytes } = cached.use;
      cached.use = { actorBytes: actorBytes + bytes, tenantBytes: tenantBytes + bytes };
    },
  };
}
