import type { PageReach, RunAnswer, UndoClaim } from "../../capabilities/run.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import { readInvocationId } from "../../protocol/invocation/id.ts";
import { soleWorkspace } from "../../protocol/policy/membership.ts";
import { narrowRun } from "../../protocol/policy/narrow-run.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { NO_MODEL } from "../../protocol/run/direct-call.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { alone, toClaim } from "../claim/claim-run.ts";
import { answerCall, startCall } from "./invoke.ts";
import { problem } from "../request/problem.ts";
import { readAllowed, type AllowedTools } from "../claim/read-allowed.ts";
import { refuseRun } from "./refuse-run.ts";
import { checkStorage } from "../claim/storage-limits.ts";

/** Undoes calls. */
export const UNDO_ROUTES: Routes = {
  "/v1/runs/:id/invocations/:invocationId/compensate": {
    POST: { scope: "chat", handle: postCompensate },
  },
};

/**
 * `POST /v1/runs/:id/invocations/:invocationId/compensate`: undoes a completed call, by a run of
 * one call. A repetition finds the same run.
 */
async function postCompensate(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id, invocationId } = authorised;
  const { embed } = principal;
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  if (!runId) return problem("run_not_found");
  const stored = await checkStorage(authorised);
  if (!stored.ok) return stored.failure;
  const viewer = viewerOf(principal);
  const allowed = await readAllowed(authorised);
  if (!allowed.ok) return allowed.failure;
  // An invalid invocation id becomes one that no invocation has: an unknown run is answered first.
  const request = {
    invocation: readInvocationId(invocationId),
    toolIds: [...allowed.value.tools.keys()],
    ...(embed && { page: reachOfPage(authorised, allowed.value) }),
  };
  const claimed = await services.runs.of(runId).undo(viewer, request);
  switch (claimed.kind) {
    case "claimed": {
      const { status, claim } = claimed;
      // A run that reported may be forgotten: it must not start again.
      if (status !== "running") {
        return hideRun(answerCall(claim.runId, await services.runs.of(claim.runId).call(viewer)));
      }
      return hideRun(await startCall(authorised, claimUndo(principal, claim)));
    }
    case "not_undoable":
      return problem("undo_not_possible");
    case "not_allowed":
      return problem("undo_not_allowed");
    case "unknown_invocation":
      return problem("invocation_not_found");
    case "unknown":
    case "gone":
      return refuseRun(claimed);
  }
}

/** The caller may undo the call, but may not see the run of another person that does it. */
function hideRun(answer: Response): Response {
  return answer.status === 404 ? problem("undo_by_another") : answer;
}

/**
 * Leaves out of a run's state what the caller could undo and policy does not allow. The gates
 * decide again when the caller does it.
 */
export async function limitUndo(
  authorised: AuthorisedRequest,
  answer: RunAnswer,
): Promise<RunAnswer> {
  const isAvailable = ({ undo }: { readonly undo?: { readonly status: string } }): boolean =>
    undo?.status === "available";
  if (answer.kind !== "run" || !answer.state.toolCalls.some(isAvailable)) return answer;
  const read = await readAllowed(authorised);
  const allowed = read.ok ? [...read.value.tools.keys()] : [];
  const toolCalls = answer.state.toolCalls.map((call) => {
    const { undo, ...rest } = call;
    return undo && isAvailable(call) && !allowed.includes(undo.toolId) ? rest : call;
  });
  return { ...answer, state: { ...answer.state, toolCalls } };
}

/** Claims the run that undoes a call. What it reaches was fixed when the undo was claimed. */
function claimUndo(
  principal: Principal,
  { runId, call, connectionIds = [], workspaceId }: UndoClaim,
): RunClaim {
  const toolIds = [call.toolId];
  const body = { messages: [], toolIds, connectionIds: [...connectionIds], workspaceId };
  const request = { runId, call, body, bodyBytes: 0 };
  const checked = { answering: { model: NO_MODEL }, conversation: alone(request) };
  return toClaim(principal, request, checked);
}

/** What a page may name in a call of its own. */
function reachOfPage({ principal }: AuthorisedRequest, { policy }: AllowedTools): PageReach {
  const { connectionIds, workspaceId = soleWorkspace(policy, principal) } = narrowRun(principal);
  return { connectionIds, workspaceId };
}
