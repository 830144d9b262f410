import * as v from "valibot";
import type { TenantId } from "../identity/ids.ts";

/** Accepts the id of a workspace, as a policy names it. */
export const workspaceId = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "1 to 64 of [a-z0-9_-], such as studio"),
);

/** Names the object that holds one workspace of one tenant. */
export interface WorkspaceAddress {
  /** The name of its definition. */
  readonly name: string;
  readonly tenantId: TenantId;
  readonly workspaceId: string;
}

/** Writes the name of a workspace's object. Contract: two addresses never share a name. */
export function objectNameOf({ name, tenantId, workspaceId: id }: WorkspaceAddress): string {
  return JSON.stringify([name, tenantId, id]);
}
