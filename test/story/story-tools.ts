import * as v from "valibot";
import { readResult } from "../../src/core-tools/read-result.ts";
import { LAST_LINE } from "./story-model.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import type { RawEnv } from "../../src/env.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import type { ExpectedState, Verification } from "../../src/protocol/outcome/verification.ts";
import type { ToolInvocationContext } from "../../src/protocol/invocation/record.ts";

let townUrl = "";

/** Sets the address of the town for the tools. */
export function connectTown(env: RawEnv): void {
  townUrl = String(env["TOWN"]);
}

interface Act {
  readonly context: ToolInvocationContext;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

async function act(what: string, { context, idempotencyKey, signal }: Act): Promise<number> {
  const answer = await fetch(`${townUrl}/acts`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify({ tenant: context.tenantId, what }),
    signal,
  });
  return (await answer.json<{ balance: number }>()).balance;
}

/** Looks whether the town did what the call asked for. */
async function verifyAct(
  _args: unknown,
  { state }: ExpectedState,
  _context: ToolInvocationContext,
  { signal }: Pick<Act, "signal">,
): Promise<Verification> {
  const answer = await fetch(`${townUrl}/acts`, { signal });
  const acts = await answer.json<readonly { readonly what: string }[]>();
  return { kind: acts.some(({ what }) => what === state["act"]) ? "verified" : "mismatch" };
}

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

const transfer = defineTool({
  name: "bank__transfer",
  version: "1.0.0",
  description: "Transfers money from our account. People have to approve each transfer.",
  input: v.strictObject({
    to: name,
    amount: v.pipe(v.number(), v.minValue(1), v.maxValue(1_000_000)),
    pin: v.optional(v.string()),
  }),
  output: v.strictObject({ moved: v.number(), to: v.string() }),
  sideEffectClass: "CRITICAL_MUTATION",
  effect: "external_side_effect",
  redaction: { args: ["to", "amount"], output: ["moved", "to"], state: ["balance", "act"] },
  capabilities: [],
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true, keyHeader: "Idempotency-Key" },
  describe: ({ to, amount }) => ({
    action: `Transfer ${amount} USD to ${to}`,
    consequence: `${amount} USD leave our account and go to ${to}.`,
  }),
  async preview({ amount }, _context, { signal }) {
    const answer = await fetch(`${townUrl}/account`, { signal });
    const { balance } = await answer.json<{ balance: number }>();
    return { before: { balance }, after: { balance: balance - amount } };
  },
  verification: {
    delaySeconds: 3_600,
    expect: ({ to, amount }) => ({
      reference: "account",
      state: { act: `transfer ${amount} to ${to}` },
    }),
  },
  verify: verifyAct,
  async execute({ to, amount }, context, scope) {
    await act(`transfer ${amount} to ${to}`, { context, ...scope });
    return ok({ moved: amount, to });
  },
});

const seat = defineTool({
  name: "travel__reserve_seat",
  version: "1.0.0",
  description: "Reserves a seat.",
  input: v.strictObject({
    flight: name,
    seat: v.optional(v.picklist(["window", "aisle"])),
    bags: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(2))),
  }),
  output: v.strictObject({ seat: v.string() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["flight", "seat", "bags"], output: ["seat"] },
  capabilities: [],
  ask: {
    form: v.strictObject({
      seat: v.pipe(v.picklist(["window", "aisle"]), v.title("Where do you sit?")),
      bags: v.pipe(v.number(), v.integer(), v.maxValue(2), v.title("Bags")),
    }),
    question: ({ flight }) => ({ text: `Which seat on flight ${flight}?` }),
  },
  async execute({ seat: where = "any", flight }, context, scope) {
    await act(`seat at the ${where} of ${flight}`, { context, ...scope });
    return ok({ seat: where });
  },
});

const note = defineTool({
  name: "desk__file_note",
  version: "1.0.0",
  title: "File a note",
  description: "Files a note.",
  input: v.strictObject({ text: name }),
  output: v.strictObject({ filed: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  redaction: { args: ["text"], output: ["filed"] },
  capabilities: [],
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true, keyHeader: "Idempotency-Key" },
  async execute({ text }, context, scope) {
    await act(`file ${text}`, { context, ...scope });
    return ok({ filed: text });
  },
});

const archive = defineTool({
  name: "archive__read",
  version: "1.0.0",
  description: "Reads the archive.",
  input: v.strictObject({}),
  output: v.strictObject({ text: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: ["text"] },
  capabilities: [],
  runtime: { maxResultBytes: 2_048 },
  execute: () => ok({ text: `${"A line of the house. ".repeat(400)}And ${LAST_LINE}.` }),
});

const outward = {
  version: "1.0.0",
  output: v.strictObject({ done: v.string() }),
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  capabilities: [],
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true, keyHeader: "Idempotency-Key" },
} as const;

const share = defineTool({
  ...outward,
  name: "crm__share_customers",
  description: "Gives a list of customers to a partner.",
  input: v.strictObject({ list: name, partner: name }),
  redaction: { args: ["list", "partner"], output: ["done"], state: ["act"] },
  describe: ({ list, partner }) => ({
    action: `Share ${list} with ${partner}`,
    consequence: `${partner} gets names and addresses of ${list}, and keeps them.`,
  }),
  verification: {
    delaySeconds: 3_600,
    expect: ({ list, partner }) => ({
      reference: `partners/${partner}`,
      state: { act: `share ${list} with ${partner}` },
    }),
  },
  verify: verifyAct,
  async execute({ list, partner }, context, scope) {
    await act(`share ${list} with ${partner}`, { context, ...scope });
    return ok({ done: partner });
  },
});

const offer = defineTool({
  ...outward,
  name: "mail__send_offer",
  description: "Sends somebody an offer.",
  input: v.strictObject({ to: name, item: name }),
  redaction: { args: ["to", "item"], output: ["done"], state: ["act"] },
  describe: ({ to, item }) => ({
    action: `Offer ${item} to ${to}`,
    consequence: `${to} gets a mail that offers ${item}.`,
  }),
  verification: {
    delaySeconds: 3_600,
    expect: ({ to, item }) => ({
      reference: `mails/${to}`,
      state: { act: `offer ${item} to ${to}` },
    }),
  },
  verify: verifyAct,
  async execute({ to, item }, context, scope) {
    await act(`offer ${item} to ${to}`, { context, ...scope });
    return ok({ done: to });
  },
});

/** Tools with effects in the town that need an approval. */
export const STORY_TOOLS: readonly AnyToolContract[] = [
  seat,
  transfer,
  share,
  offer,
  note,
  archive,
  readResult,
];
