import * as v from "valibot";
import { defineOperation, defineSaga, ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { count, nameText } from "../entities/fields.ts";
import { toolCallResult } from "../entities/tool-call-result.ts";
import { MOST_RESULT_BYTES } from "../gameplan-tool.ts";
import { REFUSALS } from "../refuse.ts";
import { readerOf } from "../timed-operation.ts";
import { findOpenThreads, threadsInput } from "./find-threads.ts";
import { lockThreadsTool } from "./lock-threads.ts";
import { mergeThreads, mergeThreadsTool } from "./merge-threads.ts";

/** Reads what a person sees before threads become a brainstorm. Fails: as `findOpenThreads`. */
export const previewThreads = defineOperation({
  name: "preview_threads",
  kind: "read",
  input: v.strictObject(threadsInput),
  output: v.strictObject({
    threads: v.array(v.strictObject({ title: nameText, messageCount: count })),
  }),
  run(sql, asked, caller) {
    const found = findOpenThreads(sql, caller, asked);
    if (!found.ok) return found;
    const threads = found.value.map(({ title, messageCount }) => ({ title, messageCount }));
    return ok({ threads });
  },
});

const { input } = mergeThreads;
const output = toolCallResult(input, mergeThreads.output);

/** Closes threads, then makes a brainstorm of them. If that fails, they are open again. */
export const finalizeThreadsTool = defineSaga({
  name: "gameplan__finalize_threads_to_brainstorm",
  version: "1.0.0",
  description:
    "Makes one brainstorm session of selected threads and closes them. A person approves it. Give your own synthesis in outputs.",
  input,
  output,
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  redaction: {
    args: Object.keys(input.entries),
    output: Object.keys(output.entries),
    state: ["threads", "status", "brainstorm"],
  },
  runtime: { maxArgumentsBytes: 65_536, maxResultBytes: MOST_RESULT_BYTES },
  security: { untrustedOutput: true },
  errors: REFUSALS,
  transactional: { confirmationRequired: true, compensationTool: "gameplan__reopen_threads" },
  compensate: (_args, { result }) => {
    const { id, revision } = result.data.brainstorm;
    return { brainstormId: id, revision };
  },
  describe: ({ threadIds, title }, before) => ({
    action: `Make brainstorm "${title}" of ${formatCount(threadIds.length, "idea thread")}`,
    consequence: `Nobody can post in these threads any more: ${formatNames(before?.["threads"] ?? threadIds)}.`,
  }),
  async checkState({ projectId, threadIds }, _context, { workspace }) {
    const found = await readerOf(workspace)(previewThreads, { projectId, threadIds });
    return found.ok ? ok(null) : found;
  },
  async preview({ projectId, threadIds, title }, _context, { workspace }) {
    const found = await readerOf(workspace)(previewThreads, { projectId, threadIds });
    if (!found.ok) return { before: null, after: null };
    const threads = found.value.threads.map((thread) => writeTitle(thread));
    return {
      before: { threads, status: "open" },
      after: { threads, status: "finalized", brainstorm: title },
    };
  },
  steps: [
    {
      tool: lockThreadsTool,
      arguments: ({ projectId, threadIds }) => ({ projectId, threadIds }),
    },
    { tool: mergeThreadsTool, arguments: (args) => args },
  ],
  result(payload, results) {
    const made = results.of(mergeThreadsTool);
    return {
      toolName: "gameplan__finalize_threads_to_brainstorm",
      description: `Made brainstorm "${payload.title}" of idea threads`,
      apiCall: {
        service: "ideaStreamService.finalizeThreadsToBrainstorm",
        payload,
        mutationType: "action" as const,
      },
      result: { success: true as const, data: made.result.data },
      executedAt: made.executedAt,
    };
  },
});

function writeTitle({ title, messageCount }: { title: string; messageCount: number }): string {
  return `${title} (${formatCount(messageCount, "message")})`;
}

function formatNames(names: unknown): string {
  return Array.isArray(names) ? names.join(", ") : "";
}
