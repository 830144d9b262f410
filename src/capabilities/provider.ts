import type { ProviderId, TenantId } from "../protocol/identity/ids.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { ProviderTerms, TenantProvider } from "../protocol/provider/tenant-provider.ts";

/** No readable provider. `unreadable` also means that the storage did not answer. */
export type ProviderFailure = { readonly code: "unknown_provider" | "unreadable_provider" };

/** A provider in a list; without terms when its value cannot be opened. */
export interface ListedProvider {
  readonly providerId: ProviderId;
  readonly terms: ProviderTerms | undefined;
}

/**
 * Stores the model providers of a tenant and never returns their keys. Only the ProviderBroker
 * opens a key.
 * Contract: `put` replaces, and answers `full` for one more provider than a tenant may have;
 * `remove` of an absent provider does nothing. `find` never throws.
 * Fails: the others throw when the storage fails.
 */
export interface ProviderStore {
  put(
    tenantId: TenantId,
    providerId: ProviderId,
    provider: TenantProvider,
  ): Promise<"stored" | "full">;
  remove(tenantId: TenantId, providerId: ProviderId): Promise<void>;
  find(tenantId: TenantId, providerId: ProviderId): Promise<Result<ProviderTerms, ProviderFailure>>;
  list(tenantId: TenantId): Promise<readonly ListedProvider[]>;
}

/** Opens a stored provider for one model call. Contract: never throws and caches no secret. */
export interface ProviderBroker {
  open(
    tenantId: TenantId,
    providerId: ProviderId,
  ): Promise<Result<TenantProvider, ProviderFailure>>;
}
