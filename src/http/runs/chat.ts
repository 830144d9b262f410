import type { JsonValue } from "../../protocol/json/value.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ChatRequestBody } from "../../protocol/run/chat-request.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { claimRun } from "../claim/claim-run.ts";
import { readWire } from "./client-wire.ts";
import { firstRunOf } from "../clients/named-chat.ts";
import { refuseBusy } from "../claim/say-aside.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import { readSizedJson, replaceHalvesOf } from "../request/read-json.ts";
import { answerRepeat, chooseRun, formatAnswer } from "./request-key.ts";
import { countNewRun } from "../claim/storage-limits.ts";

/** Starts runs. */
export const CHAT_ROUTES: Routes = {
  "/v1/chat": { POST: { scope: "chat", handle: postChat } },
};

/**
 * `POST /v1/chat`: starts a run and passes its event stream through. Requests with the same
 * `Idempotency-Key` start one run.
 */
async function postChat(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const wire = readWire(request, services.wires);
  if (!wire.ok) return wire.failure;
  const asked = await readChat(authorised, wire.value);
  return asked.ok ? startRun(authorised, asked.value, wire.value) : asked.failure;
}

/** Starts the run that a request asks for, or finds it, and answers with its stream. */
export async function startRun(
  authorised: AuthorisedRequest,
  asked: RunRequest,
  wire: ClientWire,
): Promise<Response> {
  const { services } = authorised;
  const repeated = await answerRepeat(authorised, asked, wire);
  if (repeated) return repeated;
  const claimed = await claimRun(authorised, asked);
  if (!claimed.ok) return claimed.failure;
  countNewRun(authorised, claimed.value);
  const started = await services.runs.start(claimed.value, wire.name);
  // Another device has begun the chat meanwhile.
  if (claimed.value.firstPost && started.kind === "other_request") return refuseBusy();
  return formatAnswer(started, { ...asked, runId: claimed.value.runId, services });
}

async function readChat(
  authorised: AuthorisedRequest,
  { requestBody }: ClientWire,
): Promise<Result<RunRequest, Response>> {
  const { request, services } = authorised;
  const maxBytes = maxBodyBytes(services.models);
  const read = await readSizedJson(request, requestBody, { maxBytes });
  if (!read.ok) return read;
  const { value, bytes: bodyBytes } = read.value;
  return requestRun(authorised, replaceHalvesOf(value), { bodyBytes });
}

/** Chooses the run that a body asks for, and its chat. Fails: the response to send. */
export async function requestRun(
  authorised: AuthorisedRequest,
  body: ChatRequestBody,
  more: Pick<RunRequest, "bodyBytes" | "clientTools" | "isResults" | "aside">,
): Promise<Result<RunRequest, Response>> {
  const { clientTools } = more;
  const asked = clientTools ? [body, clientTools] : body;
  const run = await chooseRun(authorised, asked as JsonValue);
  if (!run.ok) return run;
  const { chatId } = body;
  const chat = chatId !== undefined && { chat: await firstRunOf(authorised, chatId) };
  return ok({ ...run.value, ...chat, ...more, body });
}
