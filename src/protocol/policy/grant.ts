import type { ConnectionId } from "../identity/ids.ts";
import type { ToolPolicy } from "./document.ts";

/** One call that needs a connection, with what policy grants and what the request brought. */
export interface GrantQuestion {
  readonly grants: ToolPolicy["grants"];
  /** `connectionIds` of the request; a request that names none brings none. */
  readonly requested: readonly ConnectionId[] | undefined;
  readonly toolId: string;
  readonly actorId: string;
  readonly nowMs: number;
}

/**
 * Answers the connections that a call may use: those granted to this tool and this actor by a grant
 * that has not expired, as far as the request named them too (seeds/000 #30).
 * Contract: pure; sorted, each once.
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
  // A time that cannot be read is NaN, which no time comes before.
  return expiresAt === undefined || nowMs < Date.parse(expiresAt);
}
