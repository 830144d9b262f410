import { failCall, type FAILURES } from "../../protocol/outcome/failures.ts";
import type {
  AuthorizationAnswer,
  AuthorizationPort,
  AuthorizationRequest,
} from "../../capabilities/identity.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { ConnectionId } from "../../protocol/identity/ids.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { ok } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { effectiveConnections } from "../../protocol/policy/grant.ts";
import { isMember } from "../../protocol/policy/membership.ts";
import { scopesFor } from "../../protocol/policy/permission.ts";
import type { Gate } from "./gate.ts";
import type { PolicySubject } from "./subjects.ts";

export interface AuthorisePorts {
  readonly principal: Principal;
  /** Connections that the request named. */
  readonly connectionIds: readonly ConnectionId[];
  /** The workspace of the run; undefined when it has none. */
  readonly workspaceId?: string | undefined;
  readonly authorizationOf: (policy: ToolPolicy) => AuthorizationPort;
  readonly clock: Pick<Clock, "nowMs">;
}

type Found = Pick<PolicySubject, "connectionId" | "workspaceId">;
type Refusal = ReturnType<typeof deny>;

/**
 * The gate `authorise`: checks scopes, permission and delegation, and the membership in the
 * workspace of the run. Then it finds the one connection that both a grant and the request name,
 * before any credential is touched (seeds/000 #30, F1).
 * Fails: PERMISSION_DENIED.
 */
export const authorise: Gate<PolicySubject, AuthorisePorts> = {
  name: "authorise",
  async check(subject, ports) {
    const { tool, terms } = subject;
    const mayRun = await isPermitted(subject, ports, {
      action: "tool.execute",
      resource: tool.id,
      requiredScopes: scopesFor(terms.policy, tool),
    });
    if (mayRun !== "allow") return deny(mayRun);
    const workspaceId = tool.usesWorkspace ? findWorkspace(subject, ports) : undefined;
    if (tool.usesWorkspace && workspaceId === undefined) return deny("no_workspace");
    return tool.requiresConnection
      ? findConnection(subject, ports, workspaceId)
      : ok({ connectionId: undefined, workspaceId });
  },
};

/**
 * The workspace of the run, when the caller is a member under this policy. A workspace that does
 * not exist is refused like one of others.
 */
function findWorkspace(
  { terms }: PolicySubject,
  { principal, workspaceId }: AuthorisePorts,
): string | undefined {
  const isIn = workspaceId !== undefined && isMember(terms.policy, workspaceId, principal);
  return isIn ? workspaceId : undefined;
}

async function findConnection(
  subject: PolicySubject,
  ports: AuthorisePorts,
  workspaceId: string | undefined,
): Promise<{ readonly ok: true; readonly value: Found } | Refusal> {
  const { connectionIds, principal, clock } = ports;
  const [connectionId, ...others] = effectiveConnections({
    grants: subject.terms.policy.grants,
    requested: connectionIds,
    toolId: subject.tool.id,
    actorId: principal.actorId,
    nowMs: clock.nowMs(),
  });
  if (connectionId === undefined) return deny("no_connection");
  if (others.length > 0) return deny("connection_ambiguous");
  const mayUse = await isPermitted(subject, ports, {
    action: "connection.use",
    resource: connectionId,
    requiredScopes: [],
  });
  return mayUse === "allow" ? ok({ connectionId, workspaceId }) : deny(mayUse);
}

async function isPermitted(
  { terms, tool }: PolicySubject,
  { principal, authorizationOf }: AuthorisePorts,
  question: Pick<AuthorizationRequest, "action" | "resource" | "requiredScopes">,
): Promise<AuthorizationAnswer> {
  const { tenantId, actorId, subjectId, scopes } = principal;
  const who = { tenantId, actorId, ...(subjectId !== undefined && { subjectId }), scopes };
  try {
    return await authorizationOf(terms.policy).check({ ...who, ...question, toolId: tool.id });
  } catch {
    return "no_permission";
  }
}

/** Why a caller is denied. */
type Denial = keyof Pick<
  typeof FAILURES,
  "no_permission" | "no_delegation" | "no_connection" | "no_workspace" | "connection_ambiguous"
>;

/** Denies a call; the reason names no grant, scope or connection. */
export function deny(code: Denial): ReturnType<typeof failCall> {
  return failCall(code);
}
