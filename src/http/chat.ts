import type { Assistant } from "../capabilities/assistant.ts";
import { callLimitsOf } from "../contracts/call-limits.ts";
import { listOffered } from "../contracts/tool-catalog.ts";
import {
  checkContinuation,
  toTranscript,
  type HistoryFailure,
} from "../protocol/conversation/client-history.ts";
import type { ChatRequestBody } from "../protocol/run/chat-request.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { JsonValue } from "../protocol/json/value.ts";
import type { Principal, Scope } from "../protocol/identity/principal.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { narrowRun } from "../protocol/policy/narrow-run.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { isTenantModel } from "../protocol/provider/tenant-model.ts";
import { replaceHalves } from "../protocol/text/whole-characters.ts";
import { viewerOf } from "../protocol/identity/viewer.ts";
import type { AuthorisedRequest, Routes } from "./authorise.ts";
import { chooseAssistant } from "./choose-assistant.ts";
import { chooseModel } from "./choose-model.ts";
import { readWire } from "./client-wire.ts";
import { problem } from "./problem.ts";
import { joinConversation, maxBodyBytes, readFiles, refuseForModel } from "./message-files.ts";
import { readAllowed } from "./read-allowed.ts";
import { readSizedJson } from "./read-json.ts";
import { refuseRun } from "./refuse-run.ts";
import { refuseUnbound } from "./refuse-unbound.ts";
import { answerRepeat, chooseRun, formatAnswer } from "./request-key.ts";
import { checkStorage, countNewRun } from "./storage-limits.ts";

/** Starts runs. */
export const CHAT_ROUTES: Routes = {
  "/v1/chat": { POST: { scope: "chat", handle: postChat } },
};

/**
 * `POST /v1/chat`: starts a run and passes its event stream through. Requests with the same
 * `Idempotency-Key` start one run.
 */
async function postChat(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const wire = readWire(request, services.wires);
  if (!wire.ok) return wire.failure;
  const maxBytes = maxBodyBytes(services.models);
  const read = await readSizedJson(request, wire.value.requestBody, { maxBytes });
  if (!read.ok) return read.failure;
  const body = toWhole(read.value.value);
  const run = await chooseRun(authorised, body as JsonValue);
  if (!run.ok) return run.failure;
  const repeated = await answerRepeat(authorised, run.value, wire.value);
  if (repeated) return repeated;
  const outranked = refuseSystem(body, principal);
  if (outranked) return outranked;
  const files = await readFiles(body.messages, run.value.runId);
  if (!files.ok) return files.failure;
  const sent = toTranscript(body.messages, {
    limitsOf: (toolName) => callLimitsOf(services.contracts, toolName),
    files: files.value.parts,
  });
  if (!sent.ok) return refuseHistory(sent.failure);
  const found = await chooseAssistant(authorised, body.assistantId);
  if (!found.ok) return found.failure;
  const assistant = found.value;
  const unbound = refuseUnbound(body, principal);
  if (unbound) return unbound;
  const wanted = principal.embed?.model ?? body.model;
  const chosen = await chooseModel(authorised, wanted, assistant.document);
  if (!chosen.ok) return chosen.failure;
  const [model, ...fallbacks] = chosen.value;
  const asked = { files: files.value, bodyBytes: read.value.bytes };
  const untaken = await refuseForModel(authorised, asked, chosen.value);
  if (untaken) return untaken;
  const refusal = await refuseTools(authorised, body.toolIds, assistant);
  if (refusal) return refusal;
  const maxHistoryBytes = await checkStorage(authorised);
  if (!maxHistoryBytes.ok) return maxHistoryBytes.failure;
  const history = await readHistory(authorised, body.previousRunId, maxHistoryBytes.value);
  if (!history.ok) return history.failure;
  const { messages: before, workflowId } = history.value;
  const misfit = before.length > 0 && checkContinuation(before, sent.value);
  if (misfit) return refuseHistory(misfit);
  const added = { sent: sent.value, files: files.value };
  const conversation = await joinConversation(authorised, before, added);
  if (!conversation.ok) return conversation.failure;
  const claim = {
    ...run.value,
    principal,
    assistant: assistant.pin,
    instructions: assistant.document.instructions,
    ...(body.context && { context: body.context }),
    model: model.id,
    ...(isTenantModel(model.id) && { ownModel: model, ownFallbacks: fallbacks }),
    ...(workflowId && { workflowId }),
    ...conversation.value,
    ...narrowRun({ named: body, embed: principal.embed, assistant: assistant.document }),
  };
  countNewRun(authorised, claim);
  const started = await services.runs.start(claim, wire.value.name);
  return formatAnswer(started, { runId: claim.runId, services });
}

/** Replaces half characters of a parsed value: neither a hash nor a provider takes them. */
function toWhole<Value>(parsed: Value): Value {
  return replaceHalves(parsed as JsonValue) as Value;
}

function refuseHistory({ code, pointer }: HistoryFailure): Response {
  return problem(code, { errors: [{ pointer, message: "is not allowed at this place" }] });
}

/**
 * Instructions come from the operator. Threat: a client gives its own words the rank of the
 * operator's.
 */
function refuseSystem({ messages }: ChatRequestBody, { scopes }: Principal): Response | undefined {
  const isPlain = messages.every(({ role }) => role !== "system");
  if (isPlain || scopes.includes(SYSTEM_SCOPE)) return undefined;
  const detail = `A system message needs the scope ${SYSTEM_SCOPE}. Leave the message out.`;
  return problem("insufficient_scope", { detail });
}

const SYSTEM_SCOPE: Scope = "chat:system";

/**
 * A tool that the policy, the assistant or the embed token denies gets the same answer as an
 * unknown tool.
 */
async function refuseTools(
  authorised: AuthorisedRequest,
  toolIds: readonly string[] | undefined,
  assistant: Assistant,
): Promise<Response | undefined> {
  if (toolIds === undefined) return undefined;
  const { services } = authorised;
  const allowed = await readAllowed(authorised, assistant);
  if (!allowed.ok) return allowed.failure;
  const { policy } = allowed.value;
  const tools = listOffered(services.toolSpecs, policy, { nowMs: services.clock.nowMs() });
  const errors = toolIds.flatMap((toolId, index) =>
    tools.has(toolId)
      ? []
      : [{ pointer: `/toolIds/${index}`, message: "is not available to this caller" }],
  );
  return errors.length > 0 ? problem("tool_not_available", { errors }) : undefined;
}

/** The messages of the earlier runs, and the first run of their chain. */
interface History {
  readonly messages: readonly TranscriptMessage[];
  readonly workflowId?: RunId;
}

/**
 * Reads the transcript that the server recorded. History that the client sends never replaces it.
 */
async function readHistory(
  { principal, services }: AuthorisedRequest,
  previousRunId: string | undefined,
  maxBytes: number,
): Promise<Result<History, Response>> {
  if (previousRunId === undefined) return ok({ messages: [] });
  const runId = await services.runIds.verifyFor(previousRunId, viewerOf(principal));
  if (!runId) return fail(problem("run_not_found"));
  const answer = await services.runs.of(runId).transcript(viewerOf(principal), maxBytes);
  switch (answer.kind) {
    case "transcript":
      return ok({ ...answer, messages: toWhole(answer.messages) });
    case "running":
      return fail(problem("run_still_running", { headers: { "retry-after": "1" } }));
    case "too_long":
      return fail(problem("conversation_too_long", { detail: tellLimit(maxBytes) }));
    case "unknown":
    case "gone":
      return fail(refuseRun(answer));
  }
}

function tellLimit(maxBytes: number): string {
  return `A run may continue a conversation of at most ${maxBytes} bytes (budgets.maxHistoryBytes).`;
}
