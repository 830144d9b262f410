import * as v from "valibot";
import type { RunId } from "../../protocol/identity/ids.ts";
import { ownerOf, viewerOf } from "../../protocol/identity/viewer.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { chatRequestBody, type ChatRequestBody } from "../../protocol/run/chat-request.ts";
import type { EventPosition } from "../../protocol/run/event-id.ts";
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

/** A post that its client names, and the chat that it is about. */
interface NamedPost {
  /** The first run of the chat. */
  readonly chat: RunId;
  readonly post: string;
  /** What the post says, wherever in the chat it stands. */
  readonly said: object;
  readonly place?: object | undefined;
}

/**
 * Checks what a named post asks for, and chooses its run: a post that is repeated under its name
 * finds the run of the first one. Fails: the response to send.
 */
export async function requestByName(
  authorised: Pick<AuthorisedRequest, "principal" | "services">,
  { chat, post, said, place }: NamedPost,
): Promise<Result<Omit<RunRequest, "bodyBytes">, Response>> {
  const checked = readAsked({ ...said, ...place });
  if (!checked.ok) return checked;
  const requestHash = await hashOf([post, said] as JsonValue);
  const runId = await findRun(authorised, `post\n${chat}\n${post}`);
  return ok({ runId, requestHash, chat, body: checked.value });
}

/** Checks what a client's post asks for as any request is checked. Fails: the response to send. */
export function readAsked(asked: unknown): Result<ChatRequestBody, Response> {
  const config = { abortEarly: true, message: formatExpectation };
  const parsed = v.safeParse(chatRequestBody, asked, config);
  return parsed.success ? ok(replaceHalvesOf(parsed.output)) : fail(refuseShape(parsed.issues));
}

/** A run that goes on, or waits. */
export interface OpenRun {
  readonly runId: RunId;
  /** Where the newest message stands that its client said to it meanwhile. */
  readonly steeredAt?: EventPosition;
}

/** Finds the newest run of a chat, unless it has ended. */
export async function findOpenRun(
  authorised: Pick<AuthorisedRequest, "principal" | "services">,
  chat: string,
): Promise<OpenRun | undefined> {
  const { principal, services } = authorised;
  const viewer = viewerOf(principal);
  const first = await firstRunOf(authorised, chat);
  const answer = await services.runs.of(first).conversation(viewer);
  if (answer.kind !== "conversation" || !isUnended(answer.state)) return undefined;
  const { headId } = answer.state;
  // The conversation learns of an end a moment after the run.
  const head = await services.runs.of(headId).state(viewer);
  if (head.kind !== "run" || !isUnended(head.state)) return undefined;
  const { steeredAt } = head;
  return { runId: headId, ...(steeredAt && { steeredAt }) };
}

/** Finds the run in an id that begins with that of a run. Nothing of it is verified. */
export function runInId(id: string): RunId | undefined {
  return /^run_[0-9a-f]{32}_[0-9a-f]{32}/.exec(id)?.[0] as RunId | undefined;
}

/** True for a run that goes on, or waits. */
export function isUnended({ status }: { readonly status: RunStatus }): boolean {
  return status === "running" || status === "waiting";
}
