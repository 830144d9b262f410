import type { ConnectionId } from "../identity/ids.ts";
import type { ToolPolicy } from "./document.ts";

/** One call that needs a connection, with the policy's grants and the request's connections. */
export interface GrantQuestion {
  readonly grants: ToolPolicy["grants"];
  /** `connectionIds` of the request; a request without them may use no connection. */
  readonly requested: readonly ConnectionId[] | undefined;
  readonly toolId: string;
  readonly actorId: string;
  readonly nowMs: number;
}

/**
 * Lists the connections that a call may use: an unexpired grant gives them to this tool and this
 * actor, and the request names them too (seeds/000 #30).
 * Contract: pure; the list is sorted, each connection once.
 */
export function effectiveConnections(question: GrantQuestion): readonly ConnectionId[] {
  const granted = new Set(
    question.grants
      .filter((grant) => covers(grant, question))
      .map(({ connectionId }) => connectionId),
  );
  return [...new Set(question.requested)].filter((id) => granted.has(id)).sort();
}

function covers(
  { tools, actors, expiresAt }: ToolPolicy["grants"][number],
  { toolId, actorId, nowMs }: GrantQuestion,
): boolean {
  if (!tools.includes(toolId)) return false;
  if (actors && !actors.includes(actorId)) return false;
  // An unreadable time is NaN, and no time is before NaN, so the grant counts as expired.
  return expiresAt === undefined || nowMs < Date.parse(expiresAt);
}
