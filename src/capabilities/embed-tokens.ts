import type { EmbedGrant } from "../protocol/embed-grant.ts";
import type { ActorId, TenantId } from "../protocol/ids.ts";

/** What a page's token says. */
export interface EmbedOrder extends Omit<EmbedGrant, "id"> {
  readonly tenantId: TenantId;
  /** On whose account the page acts. */
  readonly actorId: ActorId;
  readonly scopes: readonly string[];
  readonly ttlSeconds: number;
}

/** Makes tokens for pages. Contract: what is ordered was checked; a token of it lets in nobody else. */
export interface EmbedTokens {
  mint(order: EmbedOrder): Promise<MintedToken>;
}

export interface MintedToken {
  readonly token: string;
  /** Unit: Unix milliseconds. */
  readonly expiresAtMs: number;
}
