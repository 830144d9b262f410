import * as v from "valibot";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";
import { refuseRun } from "./refuse-run.ts";

/** Shows operators what decided a run. */
export const TRACE_ROUTES: Routes = {
  "/v1/runs/:id/trace": { GET: { scope: "audit:read", handle: getTrace } },
};

export const query = v.strictObject({ limit: parameters.limit, cursor: parameters.cursor });

/**
 * `GET /v1/runs/:id/trace`: what the run stored about its decisions, and its audit records page by
 * page, oldest first. Pages after the first hold records alone.
 */
async function getTrace(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id } = authorised;
  const { tenantId } = principal;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const { limit, cursor } = read.value;
  const runId = await services.runIds.verify(id, tenantId);
  if (!runId) return refuseRun({ kind: "unknown" });
  const answer = await services.runs.of(runId).evidence(viewerOf(principal));
  if (answer.kind !== "trace") return refuseRun(answer);
  const scope = ["trace", tenantId, runId];
  const after = await readCursor<number>(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const page = await services.trail.read(tenantId, { runId, limit, after: after.value ?? 0 });
  return Response.json({
    runId,
    ...(cursor === undefined && answer.trace),
    records: page.items,
    ...(await nextCursor(authorised, page, scope)),
  });
}
