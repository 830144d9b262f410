import { callLimitsOf } from "../../contracts/catalog/call-limits.ts";
import { toTranscript, type HistoryFailure } from "../../protocol/conversation/client-history.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { SentFiles } from "../../protocol/conversation/sent-file.ts";
import type { Principal, Scope } from "../../protocol/identity/principal.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ChatRequestBody } from "../../protocol/run/chat-request.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { readFiles } from "./message-files.ts";
import { problem } from "../request/problem.ts";

/** The messages of a request, checked in themselves. */
export interface SentMessages {
  readonly sent: readonly TranscriptMessage[];
  readonly files: SentFiles;
}

/** Reads the messages of a request and their files. Fails: the response to send. */
export async function readSent(
  { principal, contracts }: AuthorisedRequest,
  { body, runId, call }: RunRequest,
): Promise<Result<SentMessages, Response>> {
  if (call) return ok({ sent: [], files: NO_FILES });
  const outranked = refuseSystem(body, principal);
  if (outranked) return fail(outranked);
  const files = await readFiles(body.messages, runId);
  if (!files.ok) return files;
  const known = await contracts();
  const sent = toTranscript(body.messages, {
    limitsOf: (toolName) => callLimitsOf(known, toolName),
    files: files.value.parts,
  });
  if (!sent.ok) return fail(refuseHistory(sent.failure));
  return ok({ sent: sent.value, files: files.value });
}

const NO_FILES: SentFiles = { parts: new Map(), contents: new Map() };

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

/** Answers messages that no conversation can have at their place. */
export function refuseHistory({ code, pointer }: HistoryFailure): Response {
  return problem(code, { errors: [{ pointer, message: "is not allowed at this place" }] });
}
