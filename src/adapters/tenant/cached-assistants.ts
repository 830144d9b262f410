import type {
  Assistant,
  AssistantRegistry,
  AssistantStore,
  StoredAssistant,
} from "../../capabilities/assistant.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { DeclaredAssistants } from "../../protocol/assistant/declared.ts";
import { assistantDocument, type AssistantDocument } from "../../protocol/assistant/document.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import { parseJsonAs } from "../../protocol/json/parse-as.ts";
import type { JsonValue } from "../../protocol/json/value.ts";

const CACHE_MS = 30_000;
/** Cached assistants, at most 64 KiB each; the oldest is dropped first. */
const MAX_CACHED = 100;

export interface CachedAssistantPorts {
  readonly registry: Pick<AssistantRegistry, "read" | "list">;
  readonly clock: Pick<Clock, "nowMs">;
  /** The deployment's own assistants. */
  readonly declared: DeclaredAssistants;
}

/**
 * Caches the assistants of an isolate, so that most requests cost no hop.
 * Fails: throws as AssistantStore does. An expired entry never answers instead.
 */
export function createCachedAssistants(ports: CachedAssistantPorts): AssistantStore {
  const { registry, clock, declared } = ports;
  const cache = new Map<string, { found: Assistant | undefined; readonly untilMs: number }>();
  const keyOf = (tenantId: TenantId, id: string): string => `${tenantId}/${id}`;
  return {
    async find(tenantId, id) {
      const key = keyOf(tenantId, id);
      const cached = cache.get(key);
      if (cached && cached.untilMs > clock.nowMs()) return cached.found;
      const stored = await registry.read(tenantId, id);
      const found = stored ? readStored(stored) : await standIn(id, declared.get(id));
      cache.delete(key);
      cache.set(key, { found, untilMs: clock.nowMs() + CACHE_MS });
      const [oldest] = cache.keys();
      if (oldest !== undefined && cache.size > MAX_CACHED) cache.delete(oldest);
      return found;
    },
    async list(tenantId) {
      const stored = await registry.list(tenantId);
      return [...new Set([...declared.keys(), ...stored.map(({ id }) => id)])];
    },
    forget: (tenantId, id) => void cache.delete(keyOf(tenantId, id)),
  };
}

/** Fails: throws on a document of a newer release. */
function readStored({ pin, text }: StoredAssistant): Assistant {
  const document = parseJsonAs(assistantDocument, text);
  if (!document) throw new Error("the assistant cannot be read");
  return { pin, document };
}

async function standIn(
  id: string,
  document: AssistantDocument | undefined,
): Promise<Assistant | undefined> {
  return document && { pin: { id, hash: await hashOf(document as JsonValue) }, document };
}
