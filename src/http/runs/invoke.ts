import type { CallAnswer } from "../../capabilities/run.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { invokeBody } from "../../protocol/run/direct-call.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { claimRun } from "../claim/claim-run.ts";
import { problem } from "../request/problem.ts";
import { MAX_BODY_BYTES, readSizedJson, replaceHalvesOf } from "../request/read-json.ts";
import { chooseRun } from "./request-key.ts";
import { refuseRun } from "./refuse-run.ts";
import { countNewRun } from "../claim/storage-limits.ts";

/** Calls one tool without a model. */
export const INVOKE_ROUTES: Routes = {
  "/v1/tools/:id/invoke": { POST: { scope: "chat", handle: postInvoke } },
};

/**
 * `POST /v1/tools/:id/invoke`: starts a run of one call, and answers its observation once the call
 * has ended. Requests with the same `Idempotency-Key` make one call.
 */
async function postInvoke(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services } = authorised;
  const asked = await readInvoke(authorised);
  if (!asked.ok) return asked.failure;
  const { runId, requestHash } = asked.value;
  if (requestHash !== undefined) {
    const known = await services.runs.of(runId).call(viewerOf(principal), requestHash);
    if (known.kind !== "unknown") return answerCall(runId, known);
  }
  const claimed = await claimRun(authorised, asked.value);
  return claimed.ok ? startCall(authorised, claimed.value) : claimed.failure;
}

async function readInvoke(authorised: AuthorisedRequest): Promise<Result<RunRequest, Response>> {
  const { request, id: toolId } = authorised;
  const read = await readSizedJson(request, invokeBody, { maxBytes: MAX_BODY_BYTES });
  if (!read.ok) return read;
  const body = replaceHalvesOf(read.value.value);
  const run = await chooseRun(authorised, [toolId, body as JsonValue]);
  if (!run.ok) return run;
  const { arguments: args, ...named } = body;
  const call = { toolId, argumentsText: JSON.stringify(args) };
  return ok({ ...run.value, body: { ...named, messages: [] }, bodyBytes: read.value.bytes, call });
}

/**
 * Starts a run of one call, or finds it, and answers the outcome of the call. When the object dies
 * meanwhile, the answer is that of a repeated request: the run goes on, or has ended by then.
 */
export async function startCall(authorised: AuthorisedRequest, claim: RunClaim): Promise<Response> {
  const { principal, services } = authorised;
  const { runId } = claim;
  countNewRun(authorised, claim);
  try {
    return answerCall(runId, await services.runs.invoke(claim));
  } catch (cause) {
    const left = await services.runs.of(runId).call(viewerOf(principal), claim.requestHash);
    if (left.kind === "unknown") throw cause;
    return answerCall(runId, left);
  }
}

/** Answers the outcome of a direct call. */
export function answerCall(runId: string, answer: CallAnswer): Response {
  const headers = { "x-run-id": runId };
  switch (answer.kind) {
    case "call": {
      const { state, result } = answer;
      const isUndone = state.toolCalls[0]?.state === "COMPENSATED";
      const undone = isUndone && { state: "COMPENSATED" };
      if (result) return Response.json({ runId, ...undone, ...result }, { headers });
      if (state.status === "waiting") return Response.json(state, { status: 202, headers });
      const { code, message: detail = "", errorId } = state.error ?? {};
      if (code === "tools_unavailable") return problem(code, { headers, detail });
      return problem("internal_error", { headers, ...(errorId !== undefined && { errorId }) });
    }
    case "running":
      return problem("request_in_progress", { headers: { "retry-after": "1", ...headers } });
    case "other_request":
      return problem("request_key_reused");
    case "unknown":
    case "gone":
      return refuseRun(answer);
  }
}
