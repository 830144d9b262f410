import { specsOf } from "../../contracts/catalog/registered.ts";
import type { WorkspaceGateway } from "../../capabilities/workspace.ts";
import { mayFollow } from "../../protocol/policy/membership.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { followerOf, listWorkspaces } from "./workspace-list.ts";

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
  const { request, name, id: workspaceId, principal, services } = asked;
  // A HEAD request would open a stream that no client reads or closes.
  if (request.method === "HEAD")
    return problem("method_not_allowed", { headers: { allow: "GET" } });
  const lastEventId = request.headers.get("last-event-id");
  if (lastEventId !== null && !REVISION.test(lastEventId)) {
    const detail = "Last-Event-ID must be a revision. Send an id from the stream.";
    return problem("event_id_invalid", { detail });
  }
  const { tenantId } = principal;
  const follower = followerOf(principal, specsOf(await asked.contracts()), name);
  const { policy } = await services.policies.load(tenantId);
  if (!known.has(name) || !mayFollow(policy, workspaceId, follower)) {
    return problem("workspace_not_found");
  }
  const after = lastEventId === null ? undefined : Number(lastEventId);
  const stream = await gateway.follow({ name, tenantId, workspaceId }, follower, after);
  if (stream.ok) return stream.value;
  const isGone = stream.failure === "workspace_not_found";
  return problem(stream.failure, isGone ? {} : { headers: { "retry-after": "5" } });
}
