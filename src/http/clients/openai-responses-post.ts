import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { readApprovalId } from "../../protocol/approval/id.ts";
import { parseResponseId } from "../../wire/openai-inbound/response-id.ts";
import { voteReason } from "../approvals/approvals.ts";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import type { PostedResult } from "./client-tool-parts.ts";
import type { Asked } from "./openai-start.ts";
import type { PostedDecisions } from "./posted-decisions.ts";
import { joinTexts, PostedHistory, toContents } from "./posted-history.ts";

const MAX_ITEMS = 1_000;

const object = v.custom<JsonObject>(isJsonObject, "a JSON object");
const text = v.nullish(v.string());
const flag = v.nullish(v.boolean());
const approvalAnswer = v.object({
  type: v.literal("mcp_approval_response"),
  approval_request_id: v.string(),
  approve: v.boolean(),
  reason: v.nullish(voteReason),
});
type ApprovalAnswer = v.InferOutput<typeof approvalAnswer>;

const item = v.pipe(
  object,
  v.check(
    (value) => value["type"] !== approvalAnswer.entries.type.literal || v.is(approvalAnswer, value),
    "an answer with the id of its approval",
  ),
);

/**
 * What a client posts to `/v1/responses`. A member that is not here changes nothing;
 * docs/clients.md names them. Source: openai 7.55.0, ResponseCreateParams.
 */
export const responsePost = v.object({
  model: text,
  input: v.union(
    [v.string(), v.pipe(v.array(item), v.maxLength(MAX_ITEMS))],
    "a text, or a list of items",
  ),
  instructions: text,
  stream: flag,
  previous_response_id: text,
  conversation: v.nullish(v.union([v.string(), v.object({ id: v.string() })], "a conversation")),
  tools: v.nullish(v.array(v.unknown())),
  tool_choice: v.optional(v.unknown()),
  store: flag,
  background: flag,
  text: v.nullish(object),
  prompt: v.optional(v.unknown()),
  max_tool_calls: v.optional(v.unknown()),
});
export type ResponsePost = v.InferOutput<typeof responsePost>;

/** Finds the first member that Interlock does not do; undefined where there is none. */
export function findUnsupported(post: ResponsePost): string | undefined {
  const format = post.text?.["format"];
  const isText = !isJsonObject(format) || format["type"] === "text";
  const unsupported: { readonly [member: string]: boolean } = {
    store: post.store === false,
    background: post.background === true,
    prompt: !isAbsent(post.prompt),
    max_tool_calls: !isAbsent(post.max_tool_calls),
    text: !isText,
    tool_choice: toolIdsOf(post.tool_choice) === "unsupported",
    conversation: !isAbsent(post.conversation) && !isAbsent(post.previous_response_id),
  };
  return Object.keys(unsupported).find((member) => unsupported[member]);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Reads which tools the model may use; undefined for all of them. */
export function toolIdsOf(choice: unknown): readonly unknown[] | undefined | "unsupported" {
  if (isAbsent(choice) || choice === "auto") return undefined;
  if (choice === "none") return [];
  if (!isJsonObject(choice) || choice["type"] !== "allowed_tools") return "unsupported";
  const { mode = "auto", tools } = choice;
  return mode === "auto" && Array.isArray(tools)
    ? tools.map((tool) => (isJsonObject(tool) ? tool["name"] : tool))
    : "unsupported";
}

/**
 * Reads the decisions with which a post ends; undefined for a post that ends otherwise. Contract:
 * pure. Whether they count is for the run to say.
 */
export function decisionsOf({
  input,
  previous_response_id: previous,
}: ResponsePost): Omit<PostedDecisions, "after"> | undefined {
  if (typeof input === "string") return undefined;
  const from = input.findLastIndex((value) => !v.is(approvalAnswer, value)) + 1;
  const answers = input.slice(from).filter((value) => v.is(approvalAnswer, value));
  const [first] = answers;
  if (!first) return undefined;
  const named = readApprovalId(first.approval_request_id)?.runId ?? "";
  const isOther = !isAbsent(previous) && parseResponseId(previous ?? "")?.runId !== named;
  return { runId: isOther ? "" : named, decisions: answers.map(toDecision) };
}

function toDecision({ approval_request_id: approvalId, approve, reason }: ApprovalAnswer) {
  const decision = approve ? ("approve" as const) : ("reject" as const);
  return { approvalId, decision, ...(typeof reason === "string" && { reason }) };
}

/** Reads the results of tools of the client with which a post ends. Contract: pure. */
export function resultsOf({ input }: ResponsePost): readonly PostedResult[] {
  if (typeof input === "string") return [];
  const from = input.findLastIndex(({ type }) => type !== "function_call_output") + 1;
  return input.slice(from).map(({ call_id: callId, output }) => {
    return { callId, output: joinTexts(output) };
  });
}

/**
 * Reads what was posted as messages and their place, and which of the declared tools the model may
 * call. Contract: pure; the result is not checked.
 */
export function requestOf(
  post: ResponsePost,
  declared: readonly ShownTool[],
): Pick<Asked, "asked" | "clientTools"> {
  const { conversation, previous_response_id: previous, instructions, input } = post;
  const history = new PostedHistory();
  if (!isAbsent(instructions)) history.instruct(instructions);
  if (typeof input === "string") history.say("user", input);
  else for (const posted of input) addItem(history, posted);
  const chosen = toolIdsOf(post.tool_choice);
  const isChosen = ({ name }: ShownTool): boolean =>
    !Array.isArray(chosen) || chosen.includes(name);
  const clientTools = declared.filter(isChosen);
  const toolIds =
    Array.isArray(chosen) && chosen.filter((id) => !declared.some(({ name }) => name === id));
  const asked = {
    messages: history.messages,
    ...(toolIds && { toolIds }),
    ...(conversation && placeOf(typeof conversation === "string" ? conversation : conversation.id)),
    // The same input after the same response is the same message, so a repetition is harmless.
    ...(!isAbsent(previous) && {
      parentId: parseResponseId(previous ?? "")?.runId ?? previous,
      messageId: "input",
    }),
  };
  return { asked, ...(clientTools.length > 0 && { clientTools }) };
}

/** An id of ours, or the client's own name. */
function placeOf(conversation: string): object {
  return conversation.startsWith("run_")
    ? { conversationId: conversation }
    : { chatId: conversation };
}

function addItem(history: PostedHistory, posted: JsonObject): void {
  const { type = "message", role, content, call_id: callId, name } = posted;
  switch (typeof type === "string" ? type : "") {
    case "message":
      if (role === "system" || role === "developer") history.instruct(joinTexts(content));
      else history.say(role === "assistant" ? role : "user", toContents(content));
      return;
    case "function_call":
      return history.call(callId, name, posted["arguments"]);
    case "function_call_output":
      return history.answer(callId, joinTexts(posted["output"]));
    case "mcp_call":
      history.call(posted["id"], name, posted["arguments"] || "{}");
      return history.answer(posted["id"], posted["output"] ?? posted["error"] ?? null);
    // What the runtime recorded itself, or no model reads again.
    case "reasoning":
    case "mcp_approval_request":
    case "mcp_approval_response":
    case "mcp_list_tools":
      return;
    default:
      history.say("user", [{ type }]);
  }
}
