import type { OpenedTurn } from "../../capabilities/conversation.ts";
import type { FilePart } from "../../protocol/conversation/file-part.ts";
import { keptFilesOf, replaceSources } from "../../protocol/conversation/kept-files.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import {
  MAX_CONVERSATION_FILE_BYTES,
  MAX_MESSAGE_FILE_BYTES,
  readSentFiles,
  type FileFailure,
  type SentFiles,
} from "../../protocol/conversation/sent-file.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { DeclaredModel } from "../../protocol/model/declaration.ts";
import { fail, type Result } from "../../protocol/outcome/result.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import { lowerBudgets } from "../../protocol/policy/narrow.ts";
import type { ChatMessage } from "../../protocol/run/chat-request.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import type { AnsweringModels } from "./choose-model.ts";
import { problem } from "../request/problem.ts";
import { MAX_BODY_BYTES } from "../request/read-json.ts";

/**
 * Largest body of a request whose model takes files: the largest files of one message in base64,
 * which are 4 MiB, and 64 KiB around them.
 */
const MAX_FILES_BODY_BYTES = (MAX_MESSAGE_FILE_BYTES / 3) * 4 + 64 * 1024;

/** Tells how large a body may be before its model is known. Unit: bytes. */
export function maxBodyBytes(models: readonly DeclaredModel[]): number {
  return models.some(takesFiles) ? MAX_FILES_BODY_BYTES : MAX_BODY_BYTES;
}

/** Reads the files of client-sent messages. Fails: the response to send. */
export async function readFiles(
  messages: readonly ChatMessage[],
  runId: RunId,
): Promise<Result<SentFiles, Response>> {
  const sent = await readSentFiles(messages, runId);
  return sent.ok ? sent : fail(refuseFile(sent.failure));
}

function refuseFile({ code, pointer, message }: FileFailure): Response {
  return problem(code, { errors: [{ pointer, message }] });
}

/**
 * Refuses a request that its model cannot take: a body that is too large without files, a file of a
 * kind that the model does not take, or a file that costs an unknown number of tokens where a
 * budget limits them.
 */
export async function refuseForModel(
  { principal, services }: AuthorisedRequest,
  { files, bodyBytes }: { readonly files: SentFiles; readonly bodyBytes: number },
  answering: AnsweringModels,
): Promise<Response | undefined> {
  const [model] = answering;
  const parts = [...files.parts.values()];
  if (parts.length === 0 && bodyBytes > MAX_BODY_BYTES && !takesFiles(model)) {
    return problem("body_too_large", {
      detail: `This model takes no files. Send at most ${MAX_BODY_BYTES} bytes.`,
    });
  }
  const untaken = parts.find((part) => !canTake(part, model));
  if (untaken) return problem("file_not_taken", { detail: describeModel(untaken, model) });
  const unbounded = parts.find((part) => answering.some((other) => !isBounded(part, other)));
  if (!unbounded) return undefined;
  const { policy } = await services.policies.load(principal.tenantId);
  const { budgets, tenantBudgets } = lowerBudgets(policy, principal.embed?.budgets);
  const limits = [limitsOf(budgets), limitsOf(tenantBudgets)];
  const isLimited = limits.some(
    ({ tokens, cost }) => tokens !== undefined || (model.prices && cost !== undefined),
  );
  if (!isLimited) return undefined;
  const field = unbounded.type === "image" ? "maxImageTokens" : "maxFileTokens";
  const detail = `A budget limits tokens, and the model ${model.id} or a fallback has no can.${field}.`;
  return problem("file_not_taken", { detail });
}

function takesFiles({ can }: DeclaredModel): boolean {
  return can.images || can.files;
}

function canTake({ type, source }: FilePart, { can, wire }: DeclaredModel): boolean {
  if (type === "image") return can.images;
  // Chat Completions has no address of a document.
  return can.files && !(wire === "openai" && source.kind === "address");
}

/** A model that takes no such file gets a note instead. */
function isBounded({ type }: FilePart, { can }: DeclaredModel): boolean {
  if (type === "image") return !can.images || can.maxImageTokens !== undefined;
  return !can.files || can.maxFileTokens !== undefined;
}

function describeModel({ type, source }: FilePart, { id }: DeclaredModel): string {
  const what = type === "image" ? "images" : "documents";
  return `The model ${id} does not take ${what}${source.kind === "address" ? " by address" : ""}.`;
}

/**
 * Names who keeps the files of new messages: the conversation where it has them already, and else
 * the run, which then stores their content. Contract: pure.
 */
export function placeFiles(
  { sent, files }: { readonly sent: readonly TranscriptMessage[]; readonly files: SentFiles },
  { runId, conversationId, kept }: Pick<OpenedTurn, "runId" | "conversationId" | "kept">,
): Pick<RunClaim, "messages" | "files"> {
  const known = new Set(kept);
  const sources = [...keptFilesOf(sent)].map(([hash, file]) => {
    const keeper = known.has(hash) ? conversationId : runId;
    return [hash, { ...file, keeper }] as const;
  });
  const fresh = [...files.contents].filter(([hash]) => !known.has(hash));
  return {
    messages: replaceSources(sent, new Map(sources)),
    files: Object.fromEntries(fresh),
  };
}

/** Refuses files that are too large together. */
export function refuseFiles(): Response {
  const detail = `The files of a conversation may have ${MAX_CONVERSATION_FILE_BYTES} bytes together.`;
  return problem("files_too_large", { detail });
}
