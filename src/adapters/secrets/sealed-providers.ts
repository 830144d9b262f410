import type { ProviderBroker, ProviderStore } from "../../capabilities/provider.ts";
import type { AddressRules } from "../../protocol/connection/service-address.ts";
import { parseProviderId } from "../../protocol/provider/provider-id.ts";
import {
  parseTenantProvider,
  type ProviderTerms,
  type TenantProvider,
} from "../../protocol/provider/tenant-provider.ts";
import { fail, ok } from "../../protocol/outcome/result.ts";
import { createSealedValues, type SealedValuePorts } from "./sealed-values.ts";

/** Most providers of one tenant. */
export const MAX_PROVIDERS = 32;

export interface SealedProviderPorts extends SealedValuePorts {
  readonly addressRules: AddressRules;
}

/**
 * Stores a tenant's providers as sealed values. Address, models and key are sealed together.
 * Threat: an attacker who can write the namespace and sends the key to an address of their own.
 * Limit: KV lists new ids with a delay, so a tenant that stores many at once may exceed
 * MAX_PROVIDERS. A list shows no more.
 */
export function createSealedProviders(ports: SealedProviderPorts): ProviderStore & ProviderBroker {
  const values = createSealedValues(ports, "provider");
  const open: ProviderBroker["open"] = async (tenantId, providerId) => {
    const value = await values.read(tenantId, providerId);
    if (!value.ok) return fail({ code: `${value.failure}_provider` });
    const text = await value.value();
    const provider = text === undefined ? undefined : parseTenantProvider(text, ports.addressRules);
    return provider ? ok(provider) : fail({ code: "unreadable_provider" });
  };
  return {
    open,
    async put(tenantId, providerId, provider) {
      const ids = await values.ids(tenantId, MAX_PROVIDERS);
      if (ids.length === MAX_PROVIDERS && !ids.includes(providerId)) return "full";
      await values.put(tenantId, providerId, JSON.stringify(provider));
      return "stored";
    },
    remove: (tenantId, providerId) => values.remove(tenantId, providerId),
    async find(tenantId, providerId) {
      const opened = await open(tenantId, providerId);
      return opened.ok ? ok(withoutKey(opened.value)) : opened;
    },
    async list(tenantId) {
      const ids = await values.ids(tenantId, MAX_PROVIDERS);
      const listed = ids.map(async (id) => {
        const providerId = parseProviderId(id);
        const opened = providerId && (await open(tenantId, providerId));
        // KV lists a deleted id for a while.
        if (!opened || (!opened.ok && opened.failure.code === "unknown_provider")) return [];
        return [{ providerId, terms: opened.ok ? withoutKey(opened.value) : undefined }];
      });
      return (await Promise.all(listed)).flat();
    },
  };
}

function withoutKey({ wire, baseUrl, models }: TenantProvider): ProviderTerms {
  return { wire, baseUrl, models };
}
