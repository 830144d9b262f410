import * as v from "valibot";
import type { RunViewer } from "../../capabilities/tenant.ts";
import type { ActorId } from "../../protocol/identity/ids.ts";
import {
  isDelegate,
  personOf,
  seesAll,
  type Principal,
} from "../../protocol/identity/principal.ts";
import { answerPage, parameters, readQuery } from "../request/list-query.ts";
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
  const viewer = seesAll(principal) ? undefined : viewerOf(principal);
  const delegate = viewer && isDelegate(principal) ? principal.actorId : undefined;
  const { actor } = read.value;
  if (delegate && actor !== undefined && actor !== delegate) return Response.json({ runs: [] });
  return answerPage(authorised, {
    name: "runs",
    query: read.value,
    sees: [viewer, delegate],
    list: (
      tenantId,
      { assistant: assistantId, tool: toolId, from: fromMs, to: toMs, ...filters },
    ) => {
      const startedBy = delegate ?? (actor as ActorId | undefined);
      const renamed = { assistantId, toolId, fromMs, toMs };
      return services.directory.list(tenantId, {
        ...filters,
        ...renamed,
        viewer,
        actor: startedBy,
      });
    },
  });
}

/** An agent that acts for a person sees the runs that it started for that person. */
function viewerOf(principal: Principal): RunViewer {
  const { actorId } = principal;
  return { person: personOf(principal), ...(!isDelegate(principal) && { actor: actorId }) };
}
