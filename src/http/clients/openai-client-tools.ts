import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { RunId, ToolId } from "../../protocol/identity/ids.ts";
import type { Principal, Scope } from "../../protocol/identity/principal.ts";
import { hasFiniteNumbers } from "../../protocol/json/guard.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import type { JsonSchema7, ShownTool } from "../../protocol/tool/spec.ts";
import { parseClientCallId } from "../../wire/openai-inbound/client-call-id.ts";
import { eventLines } from "../../wire/openai-inbound/event-lines.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { replaceHalvesOf } from "../request/read-json.ts";
import { followRun } from "../runs/runs.ts";
import type { ClientToolParts, ContinuedRun, PostedResult } from "./client-tool-parts.ts";
import type { ClientTools } from "./client-tools.ts";
import { linesOf } from "./folded-run.ts";
import { isUnended } from "./named-chat.ts";

/** Lets clients of OpenAI declare tools that they run themselves; see docs/clients.md. */
export const openAIClientTools: ClientTools = {
  parts: { readTools, continueRun } satisfies ClientToolParts,
};

const MAX_TOOLS = 32;
const MAX_TOOL_BYTES = 16 * 1024;
const MAX_BYTES = 64 * 1024;
/** Tools of deployments have two underscores in their names, so no name means two tools. */
const NAME = /^(?!.*__)[a-zA-Z0-9_-]{1,64}$/;
const SYSTEM_SCOPE: Scope = "chat:system";

/**
 * Reads declared tools in the words of either protocol of OpenAI.
 * Threat: a client gives its own words the rank of the operator's, as the description of a tool.
 */
function readTools(
  { principal }: { readonly principal: Principal },
  declared: readonly unknown[],
): Result<readonly ShownTool[], Response> {
  if (!principal.scopes.includes(SYSTEM_SCOPE)) {
    const detail = `Tools of the client need the scope ${SYSTEM_SCOPE}. Leave them out.`;
    return fail(problem("insufficient_scope", { detail }));
  }
  const tools: ShownTool[] = [];
  let bytes = 0;
  for (const [index, one] of declared.entries()) {
    const tool = readTool(one);
    bytes += utf8Bytes(JSON.stringify(one));
    const why =
      typeof tool === "string"
        ? tool
        : tools.some(({ name }) => name === tool.name)
          ? "has the name of another tool"
          : index >= MAX_TOOLS || bytes > MAX_BYTES
            ? `is too much: send at most ${MAX_TOOLS} tools of ${MAX_BYTES} bytes together`
            : undefined;
    if (why !== undefined || typeof tool === "string") return fail(refuseTool(index, why ?? ""));
    tools.push(tool);
  }
  return ok(replaceHalvesOf(tools));
}

/** Reads one tool, or says what is wrong with it. */
function readTool(declared: unknown): ShownTool | string {
  const { type, function: nested } = isJsonObject(declared) ? declared : {};
  if (type !== "function") return "must have the type function";
  const { name, description, parameters } = isJsonObject(nested)
    ? nested
    : (declared as JsonObject);
  if (typeof name !== "string" || !NAME.test(name)) {
    return "must have a name of 1 to 64 of [a-zA-Z0-9_-], without two underscores in a row";
  }
  const schema = parameters ?? { type: "object", properties: {} };
  const isSchema = isJsonObject(schema) && (schema["type"] ?? "object") === "object";
  const text = description ?? "";
  if (!isSchema || typeof text !== "string" || !hasFiniteNumbers(schema)) {
    return "must have a text as description, and a schema of an object as parameters";
  }
  if (utf8Bytes(JSON.stringify(declared)) > MAX_TOOL_BYTES) {
    return `must have at most ${MAX_TOOL_BYTES} bytes`;
  }
  const inputSchema: JsonSchema7 = { ...schema, type: "object" };
  return { name: name as ToolId, description: text, inputSchema };
}

function refuseTool(index: number, message: string): Response {
  return problem("client_tool_invalid", { errors: [{ pointer: `/tools/${index}`, message }] });
}

type ReturnedCall = Extract<AiEvent, { type: "client_tool_call" }>;

/**
 * Continues a run with results. The calls are those that the run returned; only the output is read
 * from the post.
 * Threat: a client makes up a call, or a result for a call of ours, of another person or of another
 * run. No such call was returned by the one run that the ids name.
 */
async function continueRun(
  authorised: AuthorisedRequest,
  results: readonly PostedResult[],
): Promise<Result<ContinuedRun, Response>> {
  const named = results.map(({ callId }) => parseClientCallId(callId));
  const runId = named[0] && (await findRun(authorised, named[0].runId));
  if (runId === undefined) return fail(problem("client_call_not_found"));
  const calls = await readReturned(authorised, runId);
  if (!calls.ok) return calls;
  const outputs = new Map<number, unknown>();
  for (const [index, call] of named.entries()) {
    const isReturned = call?.runId === runId && calls.value.some(({ part }) => part === call.part);
    if (!call || !isReturned) return fail(problem("client_call_not_found"));
    if (outputs.has(call.part)) return fail(problem("client_call_answered"));
    outputs.set(call.part, results[index]?.output);
  }
  if (outputs.size < calls.value.length) return fail(problem("client_results_missing"));
  return ok({ messages: toMessages(runId, calls.value, outputs), parentId: runId, messageId });
}

/** One turn of results follows a run. */
const messageId = "client-results";

/** Finds a run that has ended. */
async function findRun(
  { principal, services }: AuthorisedRequest,
  named: string,
): Promise<RunId | undefined> {
  const viewer = viewerOf(principal);
  const runId = await services.runIds.verifyFor(named, viewer);
  const answer = runId && (await services.runs.of(runId).state(viewer));
  return answer?.kind === "run" && !isUnended(answer.state) ? runId : undefined;
}

/** Reads the calls that a run returned, from its own events. */
async function readReturned(
  authorised: AuthorisedRequest,
  runId: RunId,
): Promise<Result<readonly ReturnedCall[], Response>> {
  const followed = await followRun(authorised, { runId, wire: eventLines, after: undefined });
  const lines = linesOf(followed);
  if (!lines) return fail(followed);
  const calls: ReturnedCall[] = [];
  for (let batch = await lines.next(); batch; batch = await lines.next()) {
    for (const { event } of batch.lines) if (event.type === "client_tool_call") calls.push(event);
  }
  return ok(calls);
}

/** The calls once more, and their results: as history, which nobody believes. */
function toMessages(
  runId: RunId,
  calls: readonly ReturnedCall[],
  outputs: ReadonlyMap<number, unknown>,
): readonly object[] {
  const idOf = (part: number): string => `client_${runId.slice(4, 36)}_${part}`;
  const content = calls.map(({ part, toolName, args }) => {
    return { type: "tool-call", toolCallId: idOf(part), toolName, args };
  });
  const results = calls.map(({ part }) => {
    return { type: "tool-result", toolCallId: idOf(part), result: outputs.get(part) ?? "" };
  });
  return [
    { role: "assistant", content },
    ...results.map((result) => ({ role: "tool", content: [result] })),
  ];
}
