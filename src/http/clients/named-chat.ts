import * as v from "valibot";
import type { RunId } from "../../protocol/identity/ids.ts";
import { ownerOf, viewerOf } from "../../protocol/identity/viewer.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { chatRequestBody, type ChatRequestBody } from "../../protocol/run/chat-request.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { RunStatus } from "../../protocol/run/state.ts";
import { formatExpectation } from "../../protocol/text/format-expectation.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { refuseShape, replaceHalvesOf } from "../request/read-json.ts";
import { findRun } from "../runs/request-key.ts";

/**
 * Finds the first run of a chat. The client's name of the chat stands for that run, so two first
 * posts meet; each owner has names of their own, and a person as many as pages have assistants. A
 * line break is part of no `Idempotency-Key`.
 */
export function firstRunOf(
  asking: Pick<AuthorisedRequest, "principal" | "services">,
  chat: string,
): Promise<RunId> {
  const { assistantId = "" } = ownerOf(asking.principal);
  return findRun(asking, `chat\n${assistantId}\n${chat}`);
}

/**
 * Checks what a client's post asks for as any request is checked, and chooses its run: the first
 * one of the chat, or a new one where the request names its conversation.
 * Fails: the response to send.
 */
export async function requestInChat(
  { principal, services }: Pick<AuthorisedRequest, "principal" | "services">,
  first: RunId,
  asked: unknown,
): Promise<Result<Omit<RunRequest, "bodyBytes">, Response>> {
  const read = readAsked(asked);
  if (!read.ok) return read;
  const body = read.value;
  if (body.conversationId !== undefined) {
    return ok({ runId: await services.runIds.mint(ownerOf(principal)), body });
  }
  const requestHash = await hashOf(body as JsonValue);
  return ok({ runId: first, requestHash, isOfChat: true, body });
}

/** Checks what a client's post asks for as any request is checked. Fails: the response to send. */
export function readAsked(asked: unknown): Result<ChatRequestBody, Response> {
  const config = { abortEarly: true, message: formatExpectation };
  const parsed = v.safeParse(chatRequestBody, asked, config);
  return parsed.success ? ok(replaceHalvesOf(parsed.output)) : fail(refuseShape(parsed.issues));
}

/** Finds the newest run of a chat, unless it has ended. */
export async function findOpenRun(
  authorised: Pick<AuthorisedRequest, "principal" | "services">,
  chat: string,
): Promise<RunId | undefined> {
  const { principal, services } = authorised;
  const viewer = viewerOf(principal);
  const first = await firstRunOf(authorised, chat);
  const answer = await services.runs.of(first).conversation(viewer);
  if (answer.kind !== "conversation" || !isUnended(answer.state)) return undefined;
  const { headId } = answer.state;
  // The conversation learns of an end a moment after the run.
  const head = await services.runs.of(headId).state(viewer);
  return head.kind === "run" && isUnended(head.state) ? headId : undefined;
}

/** True for a run that goes on, or waits. */
export function isUnended({ status }: { readonly status: RunStatus }): boolean {
  return status === "running" || status === "waiting";
}
