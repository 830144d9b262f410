import type { Clock } from "../../capabilities/system.ts";
import type { LoadedPolicy, PolicyStore } from "../../capabilities/policy.ts";
import { hashText } from "../../protocol/json/canonical-hash.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import {
  parsePolicyPin,
  policyDocumentKey,
  policyPointerKey,
  type PolicyPin,
} from "../../protocol/policy/pin.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { denyAll, parseToolPolicy, type ToolPolicy } from "../../protocol/policy/document.ts";
import type { PolicyCache } from "./policy-cache.ts";

/** How long an isolate uses its cached pointer; KV allows no shorter time. */
const CACHE_SECONDS = 30;

export interface KvPolicyPorts {
  readonly kv: KVNamespace;
  readonly clock: Clock;
  readonly cache: PolicyCache;
}

type DeniedBecause = NonNullable<LoadedPolicy["deniedBecause"]>;

/**
 * Reads policies from KV: a pointer per tenant, and documents named by their hash. Fails closed: an
 * error, a missing entry, invalid text or a wrong hash denies everything. Only valid documents are
 * cached, so a tenant's first or repaired policy counts as soon as KV shows it.
 * Threat: an attacker who can write to KV can mislead reads with a pointer to an older or own
 * document. A mutating call then finds that its pin (revision and hash) is not the current one.
 */
export function createKvPolicyStore({ kv, clock, cache }: KvPolicyPorts): PolicyStore {
  const read = async (tenantId: TenantId, pin: PolicyPin): Promise<LoadedPolicy> => {
    const key = policyDocumentKey(tenantId, pin.hash);
    const cached = cache.documentOf(key);
    if (cached) return { policy: cached, pin };
    const text = await get(kv, key);
    if (!text.ok) return denied(text.failure);
    const policy = await parseDocument(text.value, pin.hash);
    if (!policy) return denied("invalid");
    cache.keepDocument(key, policy, text.value.length);
    return { policy, pin };
  };
  const keep = (tenantId: TenantId, pin: PolicyPin): void =>
    cache.keepPointer(tenantId, { pin, untilMs: clock.nowMs() + CACHE_SECONDS * 1_000 });
  return {
    read,
    learn(tenantId, pin) {
      const known = cache.pointerOf(tenantId);
      if (!known || known.pin.revision <= pin.revision) keep(tenantId, pin);
    },
    async load(tenantId) {
      const cached = cache.pointerOf(tenantId);
      if (cached && cached.untilMs > clock.nowMs()) return read(tenantId, cached.pin);
      const text = await get(kv, policyPointerKey(tenantId));
      if (!text.ok) return denied(text.failure);
      const found = parsePolicyPin(text.value);
      if (!found) return denied("invalid");
      // KV may serve an older copy after a newer one. An isolate never returns to an older
      // revision.
      const pin = cached && cached.pin.revision > found.revision ? cached.pin : found;
      const loaded = await read(tenantId, pin);
      if (loaded.pin) keep(tenantId, pin);
      return loaded;
    },
  };
}

async function get(kv: KVNamespace, key: string): Promise<Result<string, DeniedBecause>> {
  try {
    const text = await kv.get(key, { cacheTtl: CACHE_SECONDS });
    return text === null ? fail("missing") : ok(text);
  } catch {
    return fail("unreadable");
  }
}

async function parseDocument(text: string, hash: string): Promise<ToolPolicy | undefined> {
  if ((await hashText(text)) !== hash) return undefined;
  try {
    return parseToolPolicy(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function denied(deniedBecause: DeniedBecause): LoadedPolicy {
  return { policy: denyAll(), deniedBecause };
}
