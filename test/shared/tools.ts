import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";

/** Makes a write tool that records its calls. A test can change any field of it. */
export function noteTool(change: object = {}): {
  readonly tool: AnyToolContract;
  readonly reached: unknown[];
} {
  const reached: unknown[] = [];
  const tool = defineTool({
    name: "test__note",
    version: "1.0.0",
    description: "Notes.",
    input: v.strictObject({ text: v.string(), amount: v.optional(v.number()) }),
    output: v.strictObject({ text: v.string() }),
    sideEffectClass: "LOW_RISK_INTERNAL",
    effect: "state_change",
    redaction: { args: ["text"], output: ["text"] },
    capabilities: [],
    execute(args: { readonly text: string }) {
      reached.push(args);
      return ok({ text: args.text });
    },
    ...change,
  } as never) as AnyToolContract;
  return { tool, reached };
}

/** Turns the tool above into a read tool, whose outcome is its answer. */
export const AS_READ = { sideEffectClass: "READ_ONLY", effect: "read_only" } as const;

/** Makes a read tool with a list of answers. The last answer repeats. */
export function readTool(
  answers: readonly (() => unknown)[],
  change: object = {},
): {
  readonly tool: AnyToolContract;
  /** The idempotency key of each execution. */
  readonly keys: string[];
} {
  const keys: string[] = [];
  const tool = defineTool({
    name: "test__read",
    version: "1.0.0",
    description: "Reads.",
    input: v.strictObject({ id: v.optional(v.string()) }),
    output: v.strictObject({ text: v.string() }),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: ["id"], output: ["text"] },
    capabilities: [],
    execute(_args: unknown, _context: unknown, { idempotencyKey }: { idempotencyKey: string }) {
      const answer = answers[Math.min(keys.length, answers.length - 1)];
      keys.push(idempotencyKey);
      return answer?.() as never;
    },
    ...change,
  } as never) as AnyToolContract;
  return { tool, keys };
}
