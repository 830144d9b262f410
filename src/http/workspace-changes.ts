import type { WorkspaceGateway } from "../capabilities/workspace.ts";
import { isMember, soleWorkspace } from "../protocol/policy/membership.ts";
import type { AuthorisedRequest, Routes } from "./authorise.ts";
import { problem } from "./problem.ts";
import { listWorkspaces } from "./workspace-list.ts";

/** Tells pages which workspaces there are, and streams their changes. */
export function createWorkspaceRoutes(names: readonly string[], gateway: WorkspaceGateway): Routes {
  const known = new Set(names);
  return {
    "/v1/workspaces": { GET: { scope: "chat", handle: (asked) => listWorkspaces(asked, known) } },
    "/v1/workspaces/:name/:id/changes": {
      GET: { scope: "chat", handle: (asked) => getChanges(asked, known, gateway) },
    },
  };
}

const REVISION = /^\d{1,15}$/;

/**
 * `GET /v1/workspaces/:name/:id/changes`: streams the changes after Last-Event-ID. A workspace of
 * others gets the same answer as one that does not exist, before any object wakes.
 */
async function getChanges(
  asked: AuthorisedRequest,
  known: ReadonlySet<string>,
  gateway: WorkspaceGateway,
): Promise<Response> {
  const { request, name, id: workspaceId, principal } = asked;
  // A HEAD request would open a stream that no client reads or closes.
  if (request.method === "HEAD")
    return problem("method_not_allowed", { headers: { allow: "GET" } });
  const lastEventId = request.headers.get("last-event-id");
  if (lastEventId !== null && !REVISION.test(lastEventId)) {
    const detail = "Last-Event-ID must be a revision. Send an id from the stream.";
    return problem("event_id_invalid", { detail });
  }
  if (!known.has(name) || !(await mayFollow(asked))) return problem("workspace_not_found");
  const after = lastEventId === null ? undefined : Number(lastEventId);
  const address = { name, tenantId: principal.tenantId, workspaceId };
  const stream = await gateway.follow(address, after);
  return stream ?? problem("too_many_readers", { headers: { "retry-after": "5" } });
}

/** An embed token follows the workspace that its runs use, and no other. */
async function mayFollow({ principal, services, id }: AuthorisedRequest): Promise<boolean> {
  const { policy } = await services.policies.load(principal.tenantId);
  const { embed } = principal;
  const isBound = !embed || (embed.workspaceId ?? soleWorkspace(policy, principal)) === id;
  return isBound && isMember(policy, id, principal);
}
