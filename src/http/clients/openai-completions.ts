import { isJsonObject } from "../../protocol/json/value.ts";
import { eventLines } from "../../wire/openai-inbound/event-lines.ts";
import { CompletionFold } from "../../wire/openai-inbound/fold-completion.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readSizedJson } from "../request/read-json.ts";
import type { PostedResult } from "./client-tool-parts.ts";
import { clientWithRoutes, type Client } from "./client.ts";
import { answerFolded, linkApprovals } from "./folded-run.ts";
import { completionPost, type CompletionPost } from "./openai-completions-post.ts";
import { OPENAI_MODELS } from "./openai-models.ts";
import { refuseMember, toOpenAIRefusal as formatRefusal } from "./openai-refusal.ts";
import { readClientTools, startAsked } from "./openai-start.ts";
import { joinTexts, PostedHistory, toContents } from "./posted-history.ts";

/** The Chat Completions protocol of OpenAI: the text of a run, for clients that know no other. */
export const openAICompletions: Client = clientWithRoutes(eventLines, {
  "/v1/chat/completions": { POST: { scope: "chat", handle: postCompletion, formatRefusal } },
  "/v1/models": { GET: OPENAI_MODELS },
});

/**
 * `POST /v1/chat/completions`: starts a run and answers its text.
 * Threat: a client makes up what an assistant or a tool said. It is untrusted history.
 */
async function postCompletion(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const maxBytes = maxBodyBytes(services.models);
  const read = await readSizedJson(request, completionPost, { maxBytes });
  if (!read.ok) return read.failure;
  const { value: post, bytes: bodyBytes } = read.value;
  const refusal = refuseUnsupported(post);
  if (refusal) return refusal;
  const { model, stream, stream_options: options } = post;
  const tools = readClientTools(authorised, post.tools);
  if (!tools.ok) return tools.failure;
  const clientTools = tools.value.length > 0 && { clientTools: tools.value };
  const asked = { asked: { messages: toMessages(post) }, ...clientTools, model, bodyBytes };
  const started = await startAsked(authorised, { ...asked, results: resultsOf(post) });
  const fold = new CompletionFold(linkApprovals(authorised), options?.["include_usage"] === true);
  return answerFolded(started, fold, stream === true ? undefined : (init) => toAnswer(fold, init));
}

function refuseUnsupported({ functions, n, response_format }: CompletionPost) {
  if (functions && functions.length > 0) return problem("client_tools_not_allowed");
  const isText = !response_format || response_format["type"] === "text";
  const member = !isText ? "response_format" : (n ?? 1) > 1 ? "n" : undefined;
  return member === undefined ? undefined : refuseMember(member);
}

/** Reads the results of tools of the client with which a post ends. Contract: pure. */
function resultsOf({ messages }: CompletionPost): readonly PostedResult[] {
  const from = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return messages.slice(from).map(({ tool_call_id: callId, content }) => {
    return { callId, output: joinTexts(content) };
  });
}

function toMessages({ messages }: CompletionPost): PostedHistory["messages"] {
  const history = new PostedHistory();
  for (const { role, content, tool_calls: calls, tool_call_id: callId } of messages) {
    if (role === "system" || role === "developer") history.instruct(joinTexts(content));
    else if (role === "tool") history.answer(callId, joinTexts(content));
    else history.say(role, toContents(content ?? []));
    for (const call of Array.isArray(calls) ? calls : []) {
      const { id, function: named } = isJsonObject(call) ? call : {};
      const { name, arguments: args } = isJsonObject(named) ? named : {};
      history.call(id, name, args);
    }
  }
  return history.messages;
}

/** The run of a failed completion is over, and a repetition would be another one. */
function toAnswer(fold: CompletionFold, init: { readonly headers: Record<string, string> }) {
  const { error } = fold;
  return error
    ? problem("run_failed", { detail: error.message, reason: error.code, ...init })
    : Response.json(fold.completion(), init);
}
