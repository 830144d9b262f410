import * as v from "valibot";
import { defineSaga } from "../../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import type { ToolFailure } from "../../../src/protocol/outcome/observation.ts";
import type { ToolInvocationContext } from "../../../src/protocol/invocation/record.ts";
import { fail, ok, type Result } from "../../../src/protocol/outcome/result.ts";
import type { RawEnv } from "../../../src/env.ts";
import { EFFECT_FAULTS, hasQuestion, type EffectClass } from "../world/scenario.ts";

let worldUrl = "";

/** Sets the address of the world for the tools. */
export function connectWorld(env: RawEnv): void {
  worldUrl = String(env["CHAOS_WORLD"]);
}

/**
 * Only a planned silence of the world lasts so long. A busy machine takes more than a second for
 * one effect, and the outcome would be unknown without a plan. Unit: milliseconds.
 */
const TOOL_TIMEOUT_MS = 5_000;

const base = {
  version: "1.0.0",
  input: v.strictObject({
    operation: v.pipe(v.number(), v.integer(), v.minValue(0)),
    fault: v.picklist(EFFECT_FAULTS),
  }),
  output: v.strictObject({ operation: v.number() }),
  redaction: { args: ["operation"], output: ["operation"] },
  capabilities: [],
  runtime: { timeoutMs: TOOL_TIMEOUT_MS, rateLimit: { windowSeconds: 60, maxRequests: 1_000 } },
} as const;

const look = defineTool({
  ...base,
  name: "chaos__look",
  description: "Reads something.",
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  execute: (args, context, scope) => ask("read_only", { args, context, ...scope }),
});

const put = defineTool({
  ...base,
  name: "chaos__put",
  description: "Writes what the other side keeps once under each key.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true, keyHeader: "Idempotency-Key" },
  runtime: { ...base.runtime, maxRetries: 2 },
  execute: (args, context, scope) => ask("idempotent", { args, context, ...scope }),
});

const pay = defineTool({
  ...base,
  name: "chaos__pay",
  description: "Has an effect with every request, and can be asked for what became of one.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  execute: (args, context, scope) => ask("reconciled", { args, context, ...scope }),
  async reconcile({ operation }, _context, { idempotencyKey, signal }) {
    const state = await lookUp(idempotencyKey, signal);
    if (state === "committed") return { kind: "committed", output: { operation } };
    return { kind: state === "none" ? "not_committed" : "unknown" };
  },
});

const post = defineTool({
  ...base,
  name: "chaos__post",
  description: "Has an effect with every request, and nobody can be asked afterwards.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  execute: (args, context, scope) => ask("unreconciled", { args, context, ...scope }),
});

const send = defineTool({
  ...base,
  name: "chaos__send",
  description: "Has an effect with every request, and runs after two people approved the call.",
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  describe: ({ operation }) => ({
    action: "Send something",
    consequence: `Operation ${operation} leaves the house and cannot be taken back.`,
  }),
  redaction: { ...base.redaction, state: ["operation"] },
  verification: {
    delaySeconds: 0,
    expect: ({ operation }) => ({ reference: `operations/${operation}`, state: { operation } }),
  },
  // oxlint-disable-next-line max-params -- authors get what they get elsewhere, and the state
  async verify(_args, _expected, _context, { idempotencyKey, signal }) {
    const state = await lookUp(idempotencyKey, signal);
    if (state === "committed") return { kind: "verified" };
    return { kind: state === "none" ? "mismatch" : "unknown" };
  },
  execute: (args, context, scope) => ask("approved", { args, context, ...scope }),
});

const tell = defineTool({
  ...base,
  name: "chaos__tell",
  description: "Has an effect with every request, and asks the person about some of its calls.",
  input: v.strictObject({ ...base.input.entries, voice: v.optional(v.picklist(["loud", "low"])) }),
  redaction: { ...base.redaction, args: ["operation", "voice"] },
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  ask: {
    form: v.strictObject({ voice: v.picklist(["loud", "low"]) }),
    question: ({ operation }) => (hasQuestion(operation) ? { text: "In which voice?" } : null),
  },
  execute: ({ voice = "none", ...args }, context, scope) =>
    hasQuestion(args.operation) === (voice === "low")
      ? ask("asked", { args, context, ...scope })
      : Promise.resolve(unavailable("wrong_voice")),
});

const release = defineTool({
  ...base,
  name: "chaos__release",
  description: "Undoes a reservation, once under each key.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true, keyHeader: "Idempotency-Key" },
  runtime: { ...base.runtime, maxRetries: 2 },
  shownToModel: false,
  execute: (args, context, scope) => ask("idempotent", { args, context, ...scope }),
});

const reserve = defineTool({
  ...base,
  name: "chaos__reserve",
  description: "Reserves something, which can be undone.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  idempotency: { supported: true, keyHeader: "Idempotency-Key" },
  runtime: { ...base.runtime, maxRetries: 2 },
  transactional: { compensationTool: "chaos__release" },
  compensate: ({ operation }) => ({ operation: operation + 1, fault: "none" as const }),
  execute: (args, context, scope) => ask("idempotent", { args, context, ...scope }),
});

const settle = defineTool({
  ...base,
  name: "chaos__settle",
  description: "Settles two reservations, or refuses to.",
  input: v.strictObject({ ...base.input.entries, refuses: v.boolean() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true, keyHeader: "Idempotency-Key" },
  runtime: { ...base.runtime, maxRetries: 2 },
  errors: { refused: "SEMANTIC_INVALIDITY" },
  shownToModel: false,
  // A crash leaves open whether an attempt before the refusal settled.
  async reconcile({ operation }, _context, { idempotencyKey, signal }) {
    const state = await lookUp(idempotencyKey, signal);
    if (state === "committed") return { kind: "committed", output: { operation } };
    return { kind: state === "none" ? "not_committed" : "unknown" };
  },
  async execute({ refuses, ...args }, context, scope) {
    if (!refuses) return ask("idempotent", { args, context, ...scope });
    const error = { field: null, code: "refused", message: "it is not settled" };
    return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors: [error] });
  },
});

/** The operation of its first reservation, the second, and the settling: n, n + 2 and n + 4. */
const journey = defineSaga({
  name: "chaos__journey",
  version: "1.0.0",
  description: "Reserves twice and settles. When it is not settled, releases both.",
  input: v.strictObject({ operation: base.input.entries.operation, refuses: v.boolean() }),
  output: base.output,
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  redaction: base.redaction,
  steps: [
    { tool: reserve, arguments: ({ operation }) => ({ operation, fault: "none" }) },
    { tool: reserve, arguments: ({ operation }) => ({ operation: operation + 2, fault: "none" }) },
    {
      tool: settle,
      arguments: ({ operation, refuses }) => ({ operation: operation + 4, fault: "none", refuses }),
    },
  ],
  result: ({ operation }) => ({ operation }),
});

/**
 * One tool for each class of effect, one that can be undone, the one that undoes it, and a saga of
 * them.
 */
export const CHAOS_TOOLS = [look, put, pay, post, send, tell, reserve, release, settle, journey];

interface Asked {
  readonly args: v.InferOutput<typeof base.input>;
  readonly context: ToolInvocationContext;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

async function ask(
  effectClass: EffectClass,
  { args, context, idempotencyKey, signal }: Asked,
): Promise<Result<{ operation: number }, ToolFailure>> {
  let answer: Response;
  try {
    answer = await fetch(`${worldUrl}/effects`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
      body: JSON.stringify({ ...args, effectClass, runId: context.runId }),
      signal,
    });
    await answer.arrayBuffer();
  } catch {
    return unavailable("unreachable");
  }
  if (answer.ok) return ok({ operation: args.operation });
  if (answer.status !== 429) return unavailable("server_error");
  const error = { field: null, code: "busy", message: "the server takes no more requests now" };
  return fail({ taxonomyClass: "RATE_LIMITED", errors: [error], retryAfterMs: 50 });
}

/** Asks the world what became of an operation. */
async function lookUp(idempotencyKey: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(`${worldUrl}/effects/${idempotencyKey}`, { signal });
  return (await answer.json<{ state: string }>()).state;
}

/** Failure with an unknown outcome. */
function unavailable(code: string): Result<never, ToolFailure> {
  const error = { field: null, code, message: "the server gave no answer that tells anything" };
  return fail({ taxonomyClass: "DEPENDENCY_UNAVAILABLE", errors: [error] });
}
