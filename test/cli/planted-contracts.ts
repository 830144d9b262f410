import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { PLANTED_HTTP } from "./planted-http.ts";
import { PLANTED_QUESTIONS } from "./planted-questions.ts";

const read = {
  version: "1.0.0",
  description: "Reads.",
  input: v.strictObject({ text: v.pipe(v.string(), v.maxLength(500)) }),
  output: v.strictObject({ text: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["text"], output: ["text"] },
  capabilities: [],
  examples: [{ description: "A text.", arguments: { text: "a" } }],
  execute: () => ok({ text: "read" }),
} as const;

const write = {
  ...read,
  description: "Writes.",
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  execute: () => ok({ text: "written" }),
} as const;

/** Has something for every mode to test, and no fault. */
const sound = defineTool({
  name: "sound__everything",
  version: "1.0.0",
  description: "Finds what a stranger wrote.",
  input: v.strictObject({
    from: v.pipe(v.string(), v.isoDate()),
    to: v.pipe(v.string(), v.isoDate()),
    ratio: v.pipe(v.number(), v.gtValue(0), v.maxValue(1)),
    secret: v.optional(v.string()),
    tags: v.pipe(
      v.array(v.strictObject({ name: v.string(), hue: v.nullable(v.picklist(["red"])) })),
      v.maxLength(3),
    ),
  }),
  output: v.strictObject({
    page: v.string(),
    kind: v.picklist(["page", "mail"]),
    session: v.string(),
    items: v.array(v.strictObject({ title: v.string(), owner: v.string() })),
  }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["from", "to", "tags.*.name"], output: ["page", "kind", "items.*.title"] },
  capabilities: ["auth", "http"],
  requiresConnection: true,
  security: {
    requiredScopes: ["pages:read", "mail:read"],
    egressPolicy: "allowlisted_domains",
    egressHosts: ["pages.example"],
  },
  errors: { gone: "STALE_STATE", busy: "DEPENDENCY_UNAVAILABLE" },
  examples: [
    {
      description: "A day.",
      arguments: { from: "2026-01-01", to: "2026-01-02", ratio: 1, tags: [] },
    },
  ],
  rules: [
    {
      code: "in_order",
      message: "expected to not to be before from",
      field: "/to",
      holds: ({ from, to }) => from <= to,
    },
    {
      code: "not_the_answer",
      message: "expected another ratio",
      counterexample: { from: "2026-01-01", to: "2026-01-02", ratio: 0.42, tags: [] },
      holds: ({ ratio }) => ratio !== 0.42,
    },
  ],
  async execute({ ratio }, _context, { auth }) {
    const { length } = await auth.getAccessToken();
    if (ratio > 0.9) return ok({ page: "p", kind: "mail" as const, session: "s", items: [] });
    return fail({
      taxonomyClass: "STALE_STATE",
      errors: [{ field: null, code: "gone", message: `gone, after ${length} letters` }],
    });
  },
});

/**
 * Needs a person, declares what undoes it, and has no fault. Its undo reads a withheld field of the
 * output, which has the name of an argument that is shown.
 */
const mail = defineTool({
  ...write,
  name: "sound__mail",
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  transactional: { compensationTool: "sound__recall" },
  compensate: ({ text }, output) => ({ text: `${text}: ${output.text}`.slice(0, 500) }),
  redaction: { args: ["text"], output: [], state: ["letters"] },
  verification: {
    delaySeconds: 60,
    expect: ({ text }) => ({ reference: "outbox", state: { letters: text.length } }),
  },
  verify: ({ text }, { state }) =>
    Promise.resolve({ kind: state["letters"] === text.length ? "verified" : "mismatch" }),
  runtime: { maxRetries: 1 },
  describe: ({ text }) => ({
    action: "Sends a mail.",
    consequence: `It has ${text.length} letters.`,
  }),
});

const recall = defineTool({
  ...write,
  name: "sound__recall",
  shownToModel: false,
  idempotency: { supported: true },
});

const retired = defineTool({
  ...read,
  name: "sound__retired",
  lifecycle: { status: "sunsetted", sunsetDate: "2020-01-01", replacement: null },
});

/** Its second example is longer than its own limit of the arguments. */
const schema = defineTool({
  ...read,
  name: "planted__schema",
  runtime: { maxArgumentsBytes: 300 },
  examples: [...read.examples, { description: "Long.", arguments: { text: "a".repeat(400) } }],
});

const semantic = defineTool({
  ...read,
  name: "planted__semantic",
  rules: [{ code: "never", message: "expected anything", holds: () => true }],
});

const approval = defineTool({
  ...write,
  name: "planted__approval",
  describe: () => ({ action: "Writes.", consequence: " " }),
});

/** Makes its receipt of the time, not of the key. */
const idempotency = defineTool({
  ...write,
  name: "planted__idempotency",
  capabilities: ["clock"],
  transactional: { semantics: "idempotent_write" },
  idempotency: { supported: true },
  execute: (_args, _context, { clock }) => ok({ text: `receipt ${clock.nowMs()}` }),
});

/** Takes its own first attempt for somebody else's change. */
const seen = new Map<string, number>();
const retry = defineTool({
  ...read,
  name: "planted__retry",
  capabilities: ["clock"],
  errors: { changed: "STALE_STATE" },
  checkState(_args, _context, { clock, idempotencyKey }) {
    const firstMs = seen.get(idempotencyKey) ?? clock.nowMs();
    seen.set(idempotencyKey, firstMs);
    if (clock.nowMs() === firstMs) return ok(null);
    const errors = [{ field: null, code: "changed", message: "somebody was here" }];
    return fail({ taxonomyClass: "STALE_STATE", errors });
  },
});

const observation = defineTool({
  ...read,
  name: "planted__observation",
  execute: () =>
    fail({
      taxonomyClass: "STALE_STATE",
      errors: [{ field: null, code: "not_declared", message: "gone" }],
    }),
});

const echo = defineTool({
  ...read,
  name: "planted__observation-echo",
  errors: { unknown_text: "SEMANTIC_INVALIDITY" },
  execute: ({ text }) =>
    fail({
      taxonomyClass: "SEMANTIC_INVALIDITY",
      errors: [{ field: "/text", code: "unknown_text", message: `there is no ${text}` }],
    }),
});

/** Makes arguments that the tool does not take. */
const compensation = defineTool({
  ...write,
  name: "planted__compensation",
  transactional: { compensationTool: "sound__recall" },
  compensate: ({ text }) => ({ words: text }),
});

const drift = defineTool({ ...read, name: "planted__drift" });

let reads = 0;
const replay = defineTool({
  ...read,
  name: "planted__replay",
  execute: () => ok({ text: `read ${++reads} times` }),
});

const untestable = defineTool({
  ...read,
  name: "planted__untestable",
  examples: [],
  rules: [{ code: "always", message: "expected nothing", holds: () => false }],
});

/** Contracts for the tests of the test modes: each planted one has the fault that its name says. */
export const PLANTED = [
  sound,
  mail,
  recall,
  retired,
  schema,
  semantic,
  approval,
  idempotency,
  retry,
  observation,
  echo,
  compensation,
  drift,
  replay,
  untestable,
  ...PLANTED_HTTP,
  ...PLANTED_QUESTIONS,
];
