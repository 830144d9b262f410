import type { Assistant } from "../capabilities/assistant.ts";
import type { CallAnswer } from "../capabilities/run.ts";
import { findTool } from "../contracts/tool-catalog.ts";
import { narrowRun } from "../protocol/policy/narrow-run.ts";
import { viewerOf } from "../protocol/identity/viewer.ts";
import type { JsonValue } from "../protocol/json/value.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { invokeBody, NO_MODEL } from "../protocol/run/direct-call.ts";
import { replaceHalves } from "../protocol/text/whole-characters.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import type { AuthorisedRequest, Routes } from "./authorise.ts";
import { problem } from "./problem.ts";
import { readAllowed } from "./read-allowed.ts";
import { readJson } from "./read-json.ts";
import { refuseUnbound } from "./refuse-unbound.ts";
import { chooseRun } from "./request-key.ts";
import { refuseRun } from "./refuse-run.ts";
import { checkStorage, countNewRun } from "./storage-limits.ts";

/** Calls one tool without a model. */
export const INVOKE_ROUTES: Routes = {
  "/v1/tools/:id/invoke": { POST: { scope: "chat", handle: postInvoke } },
};

/**
 * `POST /v1/tools/:id/invoke`: starts a run of one call, and answers its observation once the call
 * has ended. Requests with the same `Idempotency-Key` make one call.
 */
async function postInvoke(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id: toolId } = authorised;
  const read = await readJson(request, invokeBody);
  if (!read.ok) return read.failure;
  const body = replaceHalves(read.value as JsonValue) as typeof read.value;
  const run = await chooseRun(authorised, [toolId, body as JsonValue]);
  if (!run.ok) return run.failure;
  const { runId, requestHash } = run.value;
  if (requestHash !== undefined) {
    const known = await services.runs.of(runId).call(viewerOf(principal), requestHash);
    if (known.kind !== "unknown") return answerCall(runId, known);
  }
  const unbound = refuseUnbound(body, principal);
  if (unbound) return unbound;
  const found = await findAllowed(authorised);
  if (!found.ok) return found.failure;
  const { spec, assistant } = found.value;
  if (spec.effect !== "read_only" && requestHash === undefined)
    return problem("request_key_missing");
  const stored = await checkStorage(authorised);
  if (!stored.ok) return stored.failure;
  return startCall(authorised, {
    ...run.value,
    principal,
    ...(assistant && { assistant: assistant.pin }),
    model: NO_MODEL,
    call: { toolId, argumentsText: JSON.stringify(body.arguments) },
    messages: [],
    // The steps of a saga, and what undoes a call, obey the same lists.
    ...narrowRun({ named: body, embed: principal.embed, assistant: assistant?.document }),
  });
}

/**
 * Starts a run of one call, or finds it, and answers what came of the call. When the object dies
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

/** A call that the caller may ask for. */
interface AllowedCall {
  readonly spec: ToolSpec;
  /** Present for the token of a page. */
  readonly assistant: Assistant | undefined;
}

/**
 * Finds the tool of a call. A tool that the policy or the embed token denies, and that the
 * assistant of the embed token does not use, gets the same answer as an unknown tool.
 */
async function findAllowed(authorised: AuthorisedRequest): Promise<Result<AllowedCall, Response>> {
  const { services, id: toolId } = authorised;
  const allowed = await readAllowed(authorised);
  if (!allowed.ok) return allowed;
  const { policy, assistant } = allowed.value;
  const nowMs = services.clock.nowMs();
  const spec = findTool(services.toolSpecs, policy, { toolId, version: undefined, nowMs });
  if (!spec) return fail(problem("tool_not_found"));
  return ok({ spec, assistant });
}

/** Answers what came of a direct call. */
export function answerCall(runId: string, answer: CallAnswer): Response {
  const headers = { "x-run-id": runId };
  switch (answer.kind) {
    case "call": {
      const { state, result } = answer;
      const isUndone = state.toolCalls[0]?.state === "COMPENSATED";
      const undone = isUndone && { state: "COMPENSATED" };
      if (result) return Response.json({ runId, ...undone, ...result }, { headers });
      if (state.status === "waiting") return Response.json(state, { status: 202, headers });
      const { errorId } = state.error ?? {};
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
