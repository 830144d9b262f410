import * as v from "valibot";
import type { RunViewer } from "../../capabilities/tenant.ts";
import type { ActorId } from "../../protocol/identity/ids.ts";
import {
  isDelegate,
  personOf,
  seesAll,
  type Principal,
} from "../../protocol/identity/principal.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Lists runs. A list shows more than the runs of one page, so embed tokens cannot read it. */
export const RUN_LIST_ROUTES: Routes = {
  "/v1/runs": { GET: { scope: "runs:read", refusesEmbedTokens: true, handle: getRuns } },
};

export const query = v.strictObject({
  status: v.optional(v.picklist(["running", "waiting", "completed", "cancelled", "failed"])),
  kind: v.optional(v.picklist(["chat", "call"])),
  actor: parameters.text,
  assistant: parameters.text,
  tool: parameters.text,
  from: parameters.instant,
  to: parameters.instant,
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/runs`: lists runs, newest first: the caller's, or all with `runs:read_all`. */
async function getRuns(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const {
    status,
    kind,
    actor,
    assistant,
    tool,
    from: fromMs,
    to: toMs,
    limit,
    cursor,
  } = read.value;
  const viewer = seesAll(principal) ? undefined : viewerOf(principal);
  const delegate = viewer && isDelegate(principal) ? principal.actorId : undefined;
  if (delegate && actor !== undefined && actor !== delegate) return Response.json({ runs: [] });
  const startedBy = delegate ?? (actor as ActorId | undefined);
  const filters = [status, kind, startedBy, assistant, tool, fromMs, toMs].map(
    (value) => value ?? null,
  );
  const sees = [viewer?.person ?? null, viewer?.actor ?? null];
  const scope = ["runs", principal.tenantId, ...sees, ...filters];
  const after = await readCursor(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const slice = await services.directory.list(principal.tenantId, {
    limit,
    ...(viewer && { viewer }),
    ...(status && { status }),
    ...(kind && { kind }),
    ...(startedBy !== undefined && { actor: startedBy }),
    ...(assistant !== undefined && { assistantId: assistant }),
    ...(tool !== undefined && { toolId: tool }),
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
    ...(after.value && { after: after.value }),
  });
  return Response.json({ runs: slice.items, ...(await nextCursor(authorised, slice, scope)) });
}

/** An agent that acts for a person sees the runs that it started for that person. */
function viewerOf(principal: Principal): RunViewer {
  const { actorId } = principal;
  return { person: personOf(principal), ...(!isDelegate(principal) && { actor: actorId }) };
}
