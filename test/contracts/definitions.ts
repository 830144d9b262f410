import * as v from "valibot";
import type { ToolDefinition } from "../../src/contracts/define/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";

/** The least that registers. */
export const sound = {
  name: "test__sound",
  version: "1.0.0",
  description: "Sound.",
  input: v.strictObject({ a: v.strictObject({ b: v.array(v.strictObject({ c: v.string() })) }) }),
  output: v.strictObject({ ok: v.boolean() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["a.b.*.c"], output: ["ok"] },
  capabilities: [],
  execute: () => ok({ ok: true }),
} as const;

const input = v.strictObject({
  invoice: v.pipe(v.string(), v.regex(/^inv_\d+$/), v.maxLength(32), v.description("Its id.")),
  amount: v.pipe(v.number(), v.minValue(1), v.maxValue(1000)),
  currency: v.picklist(["EUR", "USD"]),
  note: v.nullable(v.strictObject({ text: v.pipe(v.string(), v.maxLength(80)) })),
  tags: v.optional(v.pipe(v.array(v.string()), v.maxLength(4)), []),
});
const output = v.strictObject({ receipt: v.string(), left: v.pipe(v.number(), v.integer()) });

/** Every field of a definition, set. */
export const complete: Required<
  ToolDefinition<typeof input, typeof output, "auth" | "progress" | "http" | "workspace">
> = {
  name: "test__complete",
  version: "2.10.3",
  title: "Charge a card",
  category: "billing",
  description: "Charges a card. It does not refund.",
  input,
  output,
  sideEffectClass: "CRITICAL_MUTATION",
  effect: "external_side_effect",
  redaction: {
    args: ["invoice", "note.text", "tags"],
    output: ["receipt"],
    state: ["status"],
    details: ["card.brand"],
  },
  capabilities: ["auth", "progress", "http", "workspace"],
  owner: "billing team",
  lifecycle: { status: "deprecated", sunsetDate: "2028-02-29", replacement: "test__other@3.0.0" },
  allowedUseCases: ["An open invoice is to be paid."],
  forbiddenUseCases: ["Refunds."],
  examples: [
    {
      description: "Pay ten euro.",
      arguments: { invoice: "inv_1", amount: 10, currency: "EUR", note: null },
    },
  ],
  runtime: {
    timeoutMs: 300_000,
    rateLimit: { windowSeconds: 1, maxRequests: 1 },
    cost: { currency: "EUR", perCall: 0.25, unit: "transaction" },
    sandboxIsolated: false,
    maxRetries: 10,
    maxArgumentsBytes: 262_144,
    maxResultBytes: 262_144,
  },
  details: v.strictObject({ card: v.strictObject({ brand: v.string(), number: v.string() }) }),
  content: { maxImages: 16, maxImageBytes: 3_145_728, maxTextBytes: 262_144 },
  security: {
    requiredScopes: ["billing:write"],
    tenantScoped: true,
    secretsBoundary: "gateway_injected",
    dataClassification: "regulated",
    egressPolicy: "allowlisted_domains",
    egressHosts: ["cards.example", "127.0.0.1:8080"],
    upstreams: ["ledger", "desk", "desk"],
    untrustedOutput: true,
  },
  transactional: {
    confirmationRequired: true,
    semantics: "compensable_write",
    compensationTool: "test__undo",
    verificationRequired: true,
  },
  idempotency: {
    supported: true,
    required: true,
    keyHeader: "Idempotency-Key",
    ttlSeconds: 3600,
  },
  observability: { traceAttributes: ["invoice"] },
  errors: { card_declined: "SEMANTIC_INVALIDITY" },
  parallel: false,
  shownToModel: false,
  requiresConnection: true,
  workspace: "desk",
  amountField: "/amount",
  progressStages: ["charging"],
  mayDrift: { status: "it decides nothing" },
  ask: {
    form: v.strictObject({ invoice: v.pipe(v.string(), v.maxLength(32)) }),
    ttlSeconds: 600,
    question: ({ amount }, before) => ({ text: `Which of ${amount}, ${before ? "open" : "?"}?` }),
  },
  rules: [
    {
      code: "small_in_euro",
      message: "at most 500 in EUR",
      field: "/amount",
      holds: ({ amount, currency }) => currency !== "EUR" || amount <= 500,
    },
  ],
  checkState: () => ok(null),
  describe: ({ amount }) => ({ action: `Charge ${amount}`, consequence: "The card is charged." }),
  preview: () => Promise.resolve({ before: { status: "open" }, after: null }),
  reconcile: () => Promise.resolve({ kind: "unknown" }),
  compensate: ({ invoice }, { receipt }) => ({ invoice, receipt }),
  verification: {
    delaySeconds: 60,
    expect: ({ invoice }) => ({ reference: `invoices/${invoice}`, state: { status: "paid" } }),
  },
  verify: () => Promise.resolve({ kind: "unknown" }),
  execute: () => ok({ receipt: "r", left: 0 }),
};

/** Undoes the complete contract. */
export const undo = {
  ...sound,
  name: "test__undo",
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  idempotency: { supported: true },
  shownToModel: false,
} as const;
