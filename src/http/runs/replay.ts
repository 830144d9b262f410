import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { refuseRun } from "./refuse-run.ts";

/** Decides finished runs again. */
export const REPLAY_ROUTES: Routes = {
  "/v1/runs/:id/replay": {
    POST: { scope: "audit:read", refusesEmbedTokens: true, handle: postReplay },
  },
};

/**
 * `POST /v1/runs/:id/replay`: decides a finished run again from its records, with tools forbidden.
 * Answers that it decides the same, or where it first decides otherwise.
 */
async function postReplay({ principal, services, id }: AuthorisedRequest): Promise<Response> {
  const runId = await services.runIds.verify(id, principal.tenantId);
  if (!runId) return refuseRun({ kind: "unknown" });
  const answer = await services.runs.of(runId).replay(viewerOf(principal));
  switch (answer.kind) {
    case "replayed": {
      const outcome = answer.result.difference ? "different" : "equal";
      return Response.json({ runId, outcome, ...answer.result });
    }
    case "not_replayable":
      return answer.reason === "history_erased"
        ? problem("history_erased")
        : problem("run_not_replayable", { reason: answer.reason });
    case "dry_run":
      throw new Error("a replay was answered by a dry run");
    case "unknown":
    case "gone":
      return refuseRun(answer);
  }
}
