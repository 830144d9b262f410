import type { ProviderId } from "../identity/ids.ts";
import { parseProviderId } from "./provider-id.ts";

/** A model of a tenant's own provider. */
export interface TenantModel {
  readonly providerId: ProviderId;
  /** The provider's name of the model. */
  readonly name: string;
}

/**
 * Threat: the deployment adds a model whose id reads like a tenant's model, and gets the tenant's
 * conversations. So ids of the deployment never begin with this.
 */
const PREFIX = "providers/";

/** Tells whether a model is one of a tenant's own provider. */
export function isTenantModel(model: string): boolean {
  return model.startsWith(PREFIX);
}

/** Parses `providers/<provider>/<model>`; undefined for every other text. */
export function parseTenantModel(model: string): TenantModel | undefined {
  if (!isTenantModel(model)) return undefined;
  const [id = "", ...rest] = model.slice(PREFIX.length).split("/");
  const providerId = parseProviderId(id);
  const name = rest.join("/");
  return providerId && name !== "" ? { providerId, name } : undefined;
}

/** Formats the id that requests use. */
export function formatTenantModel({ providerId, name }: TenantModel): string {
  return `${PREFIX}${providerId}/${name}`;
}
