import type { Assistant } from "../../capabilities/assistant.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ChatRequestBody } from "../../protocol/run/chat-request.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readAllowed, type AllowedTools } from "./read-allowed.ts";

/**
 * Checks the tools that a request names, and answers the assistant that narrows them. A tool that
 * the policy, the assistant or the embed token denies gets the same answer as an unknown tool.
 * Fails: the response to send.
 */
export async function checkTools(
  authorised: AuthorisedRequest,
  request: RunRequest,
  chosen: Assistant | undefined,
): Promise<Result<Assistant | undefined, Response>> {
  if (!request.call && !request.body.toolIds) return ok(chosen);
  const allowed = await readAllowed(authorised, chosen);
  if (!allowed.ok) return allowed;
  const refusal = refuseNamed(request.body, allowed.value) ?? refuseCall(request, allowed.value);
  return refusal ? fail(refusal) : ok(allowed.value.assistant);
}

function refuseNamed(
  { toolIds = [] }: ChatRequestBody,
  { tools }: AllowedTools,
): Response | undefined {
  const errors = toolIds.flatMap((toolId, index) =>
    tools.has(toolId)
      ? []
      : [{ pointer: `/toolIds/${index}`, message: "is not available to this caller" }],
  );
  return errors.length > 0 ? problem("tool_not_available", { errors }) : undefined;
}

/** A repeated request must find the run whose call changed something. */
function refuseCall(
  { call, requestHash }: RunRequest,
  { tools }: AllowedTools,
): Response | undefined {
  if (!call) return undefined;
  const spec = tools.get(call.toolId);
  if (!spec) return problem("tool_not_found");
  const isRepeatable = spec.effect === "read_only" || requestHash !== undefined;
  return isRepeatable ? undefined : problem("request_key_missing");
}
