import { viewerOf } from "../../protocol/identity/viewer.ts";
import { readInvocationId } from "../../protocol/invocation/id.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { refuseRun } from "./refuse-run.ts";

/** Reads what calls returned and nobody was shown whole. */
export const RESULT_ROUTES: Routes = {
  "/v1/runs/:id/invocations/:invocationId/result": {
    GET: { scope: "runs:read", handle: getResult },
  },
};

/**
 * `GET /v1/runs/:id/invocations/:invocationId/result`: the whole of a result that was cut, or the
 * raw output that broke its contract, which only operators get.
 */
async function getResult(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id, invocationId } = authorised;
  const viewer = viewerOf(principal);
  const runId = await services.runIds.verifyFor(id, viewer);
  if (!runId) return problem("run_not_found");
  const found = await services.runs.of(runId).result(viewer, readInvocationId(invocationId));
  if (found.kind === "unknown_result") return problem("result_not_kept");
  if (found.kind !== "result") return refuseRun(found);
  const headers = { "cache-control": "private, no-store" };
  return Response.json({ invocationId, ...found.result }, { headers });
}
