import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import type { CheckContext } from "../../src/protocol/invocation/record.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import type { Verification } from "../../src/protocol/outcome/verification.ts";
import { holdUrl } from "../fakes/scripted-model.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";
import { crashes } from "./lab-crashes.ts";

/** Effects of the tools that need an approval, one entry each. */
export const moved: string[] = [];
const movedUnder = new Set<string>();

/** What is sent slowly: the tool waits until a test releases the name; see `holdUrl`. */
export const slow = new Set<string>();

/** What `checkState` of a transfer was given as its context. */
export const checked: CheckContext[] = [];

/** Accounts that accept no money at the moment. */
export const frozen = new Set<string>();
beforeEachFile(() => {
  moved.length = 0;
  movedUnder.clear();
  frozen.clear();
  slow.clear();
  checked.length = 0;
  Object.assign(account, { owner: "user:olga", keeper: "user:olga" });
});

const amount = v.pipe(v.number(), v.minValue(1), v.maxValue(1_000_000));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

/** Moves money. `reconcile` can look the transfer up. */
const transfer = defineTool({
  name: "lab__transfer",
  version: "1.0.0",
  description: "Transfers money to an account. People have to approve each transfer.",
  input: v.strictObject({ to: name, amount, pin: v.optional(v.string()) }),
  output: v.strictObject({ moved: v.number() }),
  sideEffectClass: "CRITICAL_MUTATION",
  effect: "external_side_effect",
  redaction: { args: ["to", "amount"], output: ["moved"], state: ["moved"] },
  observability: { traceAttributes: ["to", "amount", "pin", "moved", "constructor"] },
  capabilities: [],
  transactional: { semantics: "irreversible_pivot" },
  errors: { frozen: "STALE_STATE" },
  rules: [
    {
      code: "no_self_service",
      message: "the account has to be somebody else's",
      field: "/to",
      counterexample: { to: "me", amount: 1 },
      holds: ({ to }) => to !== "me",
    },
  ],
  checkState: ({ to }, context) => {
    checked.push(context);
    return frozen.has(to)
      ? fail({
          taxonomyClass: "STALE_STATE",
          errors: [{ field: "/to", code: "frozen", message: "the account is frozen" }],
        })
      : ok(null);
  },
  describe: ({ to, amount: money }) => ({
    action: "Transfer money",
    consequence: `${money} USD leave the account and go to ${to}.`,
  }),
  verification: {
    delaySeconds: 3_600,
    expect: ({ to }, { moved: money }) => ({
      reference: `accounts/${to}`,
      state: { moved: money },
    }),
  },
  verify: (_args, _expected, _context, { idempotencyKey }) =>
    Promise.resolve({ kind: movedUnder.has(idempotencyKey) ? "verified" : "mismatch" }),
  reconcile: (_args, _context, { idempotencyKey }) =>
    Promise.resolve(
      movedUnder.has(idempotencyKey)
        ? { kind: "committed", output: { moved: 1 } }
        : { kind: "not_committed" },
    ),
  execute({ to, amount: money, pin }, { runId }, { idempotencyKey }) {
    moved.push(`${money} to ${to}${pin === undefined ? "" : ` with ${pin}`}`);
    movedUnder.add(idempotencyKey);
    const crash = crashes.get(runId);
    crashes.delete(runId);
    crash?.();
    return ok({ moved: money });
  },
});

const common = {
  version: "1.0.0",
  input: v.strictObject({ what: name, pin: v.optional(v.string()) }),
  output: v.strictObject({ done: v.string() }),
  redaction: { args: ["what"], output: ["done"] },
  capabilities: [],
} as const;

function does(label: string) {
  return async ({ what }: { readonly what: string }) => {
    moved.push(`${label}: ${what}`);
    if (slow.has(what)) await fetch(holdUrl(what));
    return ok({ done: what });
  };
}

/** Looks whether the effect is in the list. */
function verified(label: string) {
  return {
    verification: {
      delaySeconds: 3_600,
      expect: ({ what }: { readonly what: string }) => ({
        reference: `records/${what}`,
        state: { done: what },
      }),
    },
    verify: ({ what }: { readonly what: string }): Promise<Verification> =>
      Promise.resolve({ kind: moved.includes(`${label}: ${what}`) ? "verified" : "mismatch" }),
  };
}

const notify = defineTool({
  ...common,
  name: "lab__notify",
  description: "Tells a customer something. The person who asks has to approve it.",
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  redaction: { ...common.redaction, state: ["done"] },
  ...verified("notified"),
  // A careless author: the PIN is withheld elsewhere.
  describe: ({ what, pin }) => ({
    action: `Notice: ${what}`,
    consequence: `A customer reads it${pin === undefined ? "" : `, after PIN ${pin}`}.`,
  }),
  execute: does("notified"),
});

/** Moves any amount of money, two times in a run. */
const wire = defineTool({
  name: "lab__wire",
  version: "1.0.0",
  description: "Wires money. The person who asks has to approve it.",
  input: v.strictObject({ amount: v.number() }),
  output: v.strictObject({ done: v.string() }),
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  amountField: "/amount",
  runtime: { rateLimit: { windowSeconds: 86_400, maxRequests: 2 } },
  redaction: { args: ["amount"], output: ["done"], state: ["done"] },
  verification: {
    delaySeconds: 3_600,
    expect: ({ amount: money }) => ({ reference: "wires", state: { done: `wired ${money}` } }),
  },
  verify: ({ amount: money }) =>
    Promise.resolve({ kind: moved.includes(`wired ${money}`) ? "verified" : "mismatch" }),
  capabilities: [],
  transactional: { semantics: "irreversible_pivot" },
  describe: ({ amount: money }) => ({ action: "Wire money", consequence: `${money} USD leave.` }),
  execute({ amount: money }) {
    moved.push(`wired ${money}`);
    return ok({ done: "wired" });
  },
});

const archive = defineTool({
  ...common,
  name: "lab__archive",
  description: "Archives a record.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  transactional: { semantics: "irreversible_pivot" },
  execute: does("archived"),
});

const publish = defineTool({
  ...common,
  name: "lab__publish",
  description: "Publishes a record.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  transactional: { semantics: "irreversible_pivot" },
  execute: does("published"),
});

const peek = defineTool({
  ...common,
  name: "lab__peek",
  title: "Private records",
  category: "records",
  description: "Reads a private record.",
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  execute: does("peeked"),
});

/** The account of every reimbursement, as its preview reads it. */
export const account = { owner: "user:olga", keeper: "user:olga" };

/** Pays somebody back. The arguments and the state name people. */
const reimburse = defineTool({
  name: "lab__reimburse",
  version: "1.0.0",
  description: "Pays somebody back.",
  input: v.strictObject({
    requestedBy: v.optional(v.string()),
    people: v.optional(v.array(v.string())),
    beneficiary: v.optional(v.string()),
    amount: v.optional(v.number()),
  }),
  output: v.strictObject({ done: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  amountField: "/amount",
  redaction: {
    args: ["requestedBy", "people", "amount"],
    output: ["done"],
    state: ["owner", "keeper"],
  },
  mayDrift: { keeper: "the keeper of the day changes" },
  capabilities: [],
  transactional: { semantics: "irreversible_pivot" },
  preview: () => Promise.resolve({ before: { ...account }, after: null }),
  execute({ amount: money }) {
    moved.push(`reimbursed ${money}`);
    return ok({ done: "paid" });
  },
});

/** Tools that need an approval, by their contract or by the guild's policy. */
export const LAB_APPROVALS: readonly AnyToolContract[] = [
  transfer,
  notify,
  wire,
  archive,
  publish,
  peek,
  reimburse,
];

/** The policy of the tenant for tests of approvals. */
/** For tests about something else than data flow, whose tools read what others wrote. */
export const ANY_FLOW = { dataFlow: { afterUntrusted: [{ decision: "allow" }] } } as const;

export const GUILD_POLICY = {
  ...ANY_FLOW,
  allowedTools: [
    "core__calculate",
    "lab__watch",
    "lab__write_note",
    "lab__transfer",
    "lab__notify",
    "lab__archive",
    "lab__publish",
    "lab__peek",
    "lab__refund",
    "lab__sell",
    "lab__take_back",
    "lab__pay_order",
    "lab__seat",
    "lab__gift",
    "core__ask_person",
  ],
  approvals: [
    { tools: ["lab__archive"], pattern: "async_review" },
    { tools: ["lab__publish"], pattern: "compliance" },
    { tools: ["lab__peek"], pattern: "operator_review" },
  ],
  argumentRules: [
    { tool: "lab__transfer", field: "/to", must: { notBeOneOf: ["casino"] } },
    { tool: "lab__seat", field: "/seat", must: { notBeOneOf: ["cockpit"] } },
  ],
  delegations: [
    { actorId: "user:aide", subjectId: "user:ann", tools: ["lab__notify"] },
    { actorId: "agent:scribe", subjectId: "user:ann", tools: ["lab__notify"] },
  ],
  budgets: { maxCritical: 100 },
  tenantBudgets: { maxCritical: 10_000 },
};
