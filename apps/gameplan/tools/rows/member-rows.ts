import type { WorkspaceReads } from "interlock-edge/tools";
import { EVERYBODY, member, type Member } from "../entities/member.ts";

/**
 * SQL: the caller may see a project, with the tenant and the person as the first two bindings. The
 * line of the person counts before that of everybody.
 * Threat: it only narrows what the policy gives. Who is in a project and not in the workspace
 * reaches nothing.
 */
export const IS_REACHABLE = `tenant_id = ?1 AND
  (SELECT value FROM json_each(members) WHERE key IN (?2, '${EVERYBODY}')
    ORDER BY key = '${EVERYBODY}' LIMIT 1) <> 'none'`;

/** Reads who is in a project, owners first. */
export function readMembers(sql: WorkspaceReads, projectId: string): Member[] {
  return sql.rows(
    member,
    `SELECT key AS person, value AS access FROM projects, json_each(members)
     WHERE projects.id = ? ORDER BY value = 'owner' DESC, key`,
    projectId,
  );
}

export function isOwner(sql: WorkspaceReads, projectId: string, person: string): boolean {
  return readMembers(sql, projectId).some((one) => one.access === "owner" && one.person === person);
}
