import type { TenantId } from "../../protocol/identity/ids.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { parseSealedValue } from "../../protocol/connection/sealed-value.ts";
import type { KeyRing } from "../keys/key-ring.ts";

/** How long KV may answer from its edge cache; KV allows no shorter time. */
const CACHE_SECONDS = 30;

export interface SealedValuePorts {
  readonly kv: KVNamespace;
  readonly keyRing: KeyRing;
}

/** Opens a value that was read. Contract: answers undefined when the value does not open. */
export type OpenValue = () => Promise<string | undefined>;

/** The sealed values of one kind, by tenant and id. Contract: `put` replaces. */
export interface SealedValues {
  put(tenantId: TenantId, id: string, text: string): Promise<void>;
  /** Contract: idempotent. */
  remove(tenantId: TenantId, id: string): Promise<void>;
  /** Contract: never throws, and opens nothing. */
  read(tenantId: TenantId, id: string): Promise<Result<OpenValue, "unknown" | "unreadable">>;
  /** Lists ids, in order, at most `limit`. */
  ids(tenantId: TenantId, limit: number): Promise<readonly string[]>;
}

/**
 * Stores values in KV under `<kind>/<tenant>/<id>`, sealed for exactly that kind, tenant and id.
 * Threat: an attacker who can read or write the namespace. They learn no secret, and a value that
 * they change or move does not open.
 * Limit: they can restore an older value of the same id.
 */
export function createSealedValues(
  { kv, keyRing }: SealedValuePorts,
  kind: "connection" | "provider",
): SealedValues {
  const keyOf = (tenantId: TenantId, id: string): string => `${kind}/${tenantId}/${id}`;
  return {
    async put(tenantId, id, text) {
      const value = await keyRing.seal(text, [kind, tenantId, id]);
      await kv.put(keyOf(tenantId, id), JSON.stringify(value));
    },
    async remove(tenantId, id) {
      await kv.delete(keyOf(tenantId, id));
    },
    async read(tenantId, id) {
      let text: string | null;
      try {
        text = await kv.get(keyOf(tenantId, id), { cacheTtl: CACHE_SECONDS });
      } catch {
        return fail("unreadable");
      }
      if (text === null) return fail("unknown");
      const value = parseSealedValue(text);
      return value ? ok(() => keyRing.open(value, [kind, tenantId, id])) : fail("unreadable");
    },
    async ids(tenantId, limit) {
      const prefix = keyOf(tenantId, "");
      const { keys } = await kv.list({ prefix, limit });
      return keys.map(({ name }) => name.slice(prefix.length));
    },
  };
}
