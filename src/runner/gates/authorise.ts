import type { AuthorizationAnswer, AuthorizationQuestion } from "../../capabilities/identity.ts";
import { effectiveConnections } from "../../protocol/policy/grant.ts";
import type { ConnectionId } from "../../protocol/identity/ids.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { entryOf } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { ActiveCall } from "../active-call.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Gate 6: scopes, permission and delegation, then the one connection in grant and request that the
 * tool may use; before any credential is touched (seeds/000 #30, F1).
 * Contract: answers the connection, or undefined for a tool that needs none. Fails: PERMISSION_DENIED.
 */
export async function authorise(
  hand: ActiveCall,
  policy: ToolPolicy,
): Promise<Result<ConnectionId | undefined, ToolFailure>> {
  const { tool } = hand;
  const requiredScopes = [...tool.requiredScopes, ...(entryOf(policy, tool.id)?.scopes ?? [])];
  const mayRun = await ask(hand, policy, {
    action: "tool.execute",
    resource: tool.id,
    requiredScopes,
  });
  if (mayRun !== "allow") return denied(mayRun);
  if (!tool.requiresConnection) return ok(undefined);

  const { connectionIds, principal, clock } = hand.ports;
  const [connectionId, ...others] = effectiveConnections({
    grants: policy.grants,
    requested: connectionIds,
    toolId: tool.id,
    actorId: principal.actorId,
    nowMs: clock.nowMs(),
  });
  if (connectionId === undefined) return denied("no_connection");
  if (others.length > 0) return denied("connection_ambiguous");
  const mayUse = await ask(hand, policy, {
    action: "connection.use",
    resource: connectionId,
    requiredScopes: [],
  });
  return mayUse === "allow" ? ok(connectionId) : denied(mayUse);
}

async function ask(
  { ports, tool }: ActiveCall,
  policy: ToolPolicy,
  question: Pick<AuthorizationQuestion, "action" | "resource" | "requiredScopes">,
): Promise<AuthorizationAnswer> {
  const { tenantId, actorId, subjectId, scopes } = ports.principal;
  const who = { tenantId, actorId, ...(subjectId !== undefined && { subjectId }), scopes };
  try {
    return await ports.authorizationOf(policy).check({ ...who, ...question, toolId: tool.id });
  } catch {
    return "no_permission";
  }
}

const REASONS = {
  no_permission: "the caller lacks the permission for this tool",
  no_delegation: "the caller may not do this on behalf of that person",
  no_connection: "no connection is both granted and requested for this tool",
  connection_ambiguous: "more than one connection is granted and requested for this tool",
} as const;

function denied(code: keyof typeof REASONS): { readonly ok: false; readonly failure: ToolFailure } {
  return failCall("PERMISSION_DENIED", { code, message: REASONS[code] });
}
