import type { ConsentView } from "../protocol/consent/consent.ts";
import type { ActorId, TenantId } from "../protocol/identity/ids.ts";
import type { ListPage, ListPosition } from "../protocol/list/page.ts";

/** Filters the consents of a tenant. */
export interface ConsentQuery {
  readonly person: ActorId;
  /** Those that were given to this assistant. Absent: to any, or to none. */
  readonly assistantId?: string | undefined;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
}

/** Somebody ends a consent. */
export interface ConsentRevocation {
  readonly id: string;
  readonly by: ActorId;
  /** Only a consent that the query would list. Absent: any of the tenant. */
  readonly of?: Pick<ConsentQuery, "person" | "assistantId"> | undefined;
}

/**
 * The consents of people that last.
 * Contract: the newest comes first. `revoke` answers once it is stored and audited; repeating it
 * changes nothing. Undefined: no such consent, or one that the caller may not end. Throws when the
 * tenant's object cannot be reached.
 */
export interface ConsentDesk {
  list(tenantId: TenantId, query: ConsentQuery): Promise<ListPage<ConsentView>>;
  revoke(tenantId: TenantId, revocation: ConsentRevocation): Promise<ConsentView | undefined>;
}
