import type { ActorId, TenantId } from "../protocol/identity/ids.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { PersonErasure } from "../protocol/person/erasure.ts";
import type { WorkspaceAddress } from "../protocol/workspace/address.ts";

/** A page of what a workspace holds of one person. */
export interface PersonPage {
  readonly personId: ActorId;
  /** Where the last page ended, as the workspace said. */
  readonly after?: string;
}

/** `undeclared`: the workspace does not say how. `unreachable`: its object does not answer. */
type NoRows = { readonly kind: "undeclared" | "unreachable" };

export type PersonRows =
  | { readonly kind: "rows"; readonly rows: readonly JsonObject[]; readonly next?: string }
  | NoRows;

/** `isMore`: ask again. */
export type ErasedRows =
  | { readonly kind: "erased"; readonly rows: number; readonly isMore: boolean }
  | NoRows;

/** The data of people in workspaces. Contract: never throws; one that nobody used has no rows. */
export interface PersonWorkspaces {
  exportPerson(workspace: WorkspaceAddress, page: PersonPage): Promise<PersonRows>;
  /** Contract: idempotent. */
  erasePerson(workspace: WorkspaceAddress, personId: ActorId): Promise<ErasedRows>;
}

/** Who is to be erased, who asks for it, and where rows may be. */
export interface ErasureRequest {
  readonly tenantId: TenantId;
  readonly personId: ActorId;
  /** The keyed hash of the person. */
  readonly erasureId: string;
  readonly by: ActorId;
  readonly workspaces: readonly WorkspaceAddress[];
}

/** RPC of the tenant's object that erases people. Contract: as of TenantMethods. */
export interface ErasureMethods {
  /** Begins to erase a person, unless that goes on already; the object goes on by itself. */
  erasePerson(request: ErasureRequest): Promise<PersonErasure>;
  personErasure(erasureId: string): Promise<PersonErasure | undefined>;
}

/** Erases people. Contract: throws when the tenant's object cannot be reached. */
export interface PersonErasures {
  begin(request: ErasureRequest): Promise<PersonErasure>;
  read(tenantId: TenantId, erasureId: string): Promise<PersonErasure | undefined>;
}
