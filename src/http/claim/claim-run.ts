import type { Assistant } from "../../capabilities/assistant.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { narrowRun } from "../../protocol/policy/narrow-run.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { checkTools } from "./check-tools.ts";
import { chooseAnswering, type Answering } from "./choose-answering.ts";
import { chooseAssistant } from "./choose-assistant.ts";
import { joinConversation, type Conversation } from "./join-conversation.ts";
import { readSent } from "./read-sent.ts";
import { refuseUnbound } from "./refuse-unbound.ts";
import { checkStorage } from "./storage-limits.ts";

/**
 * Turns what a client asks for into the claim of a run: every way in comes through here. The order
 * of the checks decides which problem a client hears of, so it is a part of the API. Fails: the
 * response to send.
 */
export async function claimRun(
  authorised: AuthorisedRequest,
  request: RunRequest,
): Promise<Result<RunClaim, Response>> {
  const sent = await readSent(authorised, request);
  if (!sent.ok) return sent;

  // A direct call needs no assistant; that of a page narrows its tools below.
  const { body, call } = request;
  const chosen = call ? ok(undefined) : await chooseAssistant(authorised, body.assistantId);
  if (!chosen.ok) return chosen;

  const unbound = refuseUnbound(body, authorised.principal);
  if (unbound) return fail(unbound);

  const { files } = sent.value;
  const answering = await chooseAnswering(authorised, request, { assistant: chosen.value, files });
  if (!answering.ok) return answering;

  const allowed = await checkTools(authorised, request, chosen.value);
  if (!allowed.ok) return allowed;

  const stored = await checkStorage(authorised);
  if (!stored.ok) return stored;

  const { maxHistoryBytes } = stored.value;
  const historyRule = chosen.value?.document.history;
  const said = { ...sent.value, maxHistoryBytes, historyRule };
  const joined = call ? ok(alone(request)) : await joinConversation(authorised, request, said);
  if (!joined.ok) return joined;

  const checked = {
    assistant: allowed.value,
    answering: answering.value,
    conversation: joined.value,
    trace: authorised.services.readTrace?.(authorised.request.headers),
  };
  return ok(toClaim(authorised.principal, request, checked));
}

/** A direct call is part of no conversation. */
export function alone({ runId, requestHash }: RunRequest): Conversation {
  return { runId, messages: [], ...(requestHash !== undefined && { requestHash }) };
}

/** What the checks of a request found. */
export interface CheckedRun {
  /** That of the conversation, or of the page that calls a tool. */
  readonly assistant?: Assistant | undefined;
  readonly answering: Answering;
  readonly conversation: Conversation;
  /** The trace that the run becomes part of. */
  readonly trace?: string | undefined;
}

/**
 * Puts the claim of a run together. Contract: pure. The caller has checked that the request may
 * name what it names: `claimRun`, or for an undo the object of the run that is undone.
 */
export function toClaim(
  principal: Principal,
  request: RunRequest,
  { assistant, answering, conversation, trace }: CheckedRun,
): RunClaim {
  const { call, body, clientTools } = request;
  return {
    principal,
    ...(call && { call }),
    ...(assistant && { assistant: assistant.pin }),
    ...(body.context && { context: body.context }),
    ...(clientTools && { clientTools }),
    ...(trace !== undefined && { trace }),
    ...(body.limits && { ownLimits: body.limits }),
    ...answering,
    ...conversation,
    // The steps of a saga, and what undoes a call, obey the same lists.
    ...narrowRun({ named: body, embed: principal.embed, assistant: assistant?.document }),
  };
}
