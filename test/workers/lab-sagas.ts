import * as v from "valibot";
import { defineSaga } from "../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import type { ToolFailure } from "../../src/protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../src/protocol/outcome/result.ts";
import { holdUrl } from "../fakes/scripted-model.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";
import { crashes } from "./lab-crashes.ts";

/** Effects of the journey's steps, one entry each, in the order made. */
export const journey: string[] = [];
/** Behaviour of the next effects, by effect such as `pay`. */
export const faults = new Map<string, "fails" | "crashes" | "breaks" | "holds">();
const keys = new Set<string>();
beforeEachFile(() => {
  journey.length = 0;
  faults.clear();
  keys.clear();
});

const input = v.strictObject({ where: v.pipe(v.string(), v.maxLength(100)), pin: v.string() });
const output = v.strictObject({ id: v.string(), secret: v.string() });
type Done = Result<v.InferOutput<typeof output>, ToolFailure>;

interface Granted {
  readonly idempotencyKey: string;
}

/** Makes an effect once for each key, and misbehaves as told. */
function act(effect: string) {
  return async (
    { where, pin }: v.InferOutput<typeof input>,
    { runId }: { readonly runId: string },
    { idempotencyKey }: Granted,
  ): Promise<Done> => {
    const fault = faults.get(effect);
    if (fault === "fails") {
      const errors = [{ field: "/where", code: "full", message: `${effect} is not possible` }];
      return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors });
    }
    if (!keys.has(idempotencyKey)) journey.push(`${effect} ${where}`);
    keys.add(idempotencyKey);
    if (fault === "holds") await fetch(holdUrl(effect));
    if (fault === "crashes") {
      faults.delete(effect);
      crashes.get(runId)?.();
    }
    if (fault === "breaks") return ok({ id: "i" } as never);
    return ok({ id: `${effect}-${where}`, secret: `secret-${pin}` });
  };
}

const base = {
  version: "1.0.0",
  description: "Does a part of a journey.",
  input,
  output,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["where"], output: ["id"] },
  capabilities: [],
  idempotency: { supported: true },
  errors: { full: "SEMANTIC_INVALIDITY" },
  shownToModel: false,
} as const;

const cancelRoom = defineTool({ ...base, name: "lab__cancel_room", execute: act("cancel_room") });
const cancelTrain = defineTool({
  ...base,
  name: "lab__cancel_train",
  execute: act("cancel_train"),
});
const bookRoom = defineTool({
  ...base,
  name: "lab__book_room",
  // The hotel names its bookings.
  security: { untrustedOutput: true },
  transactional: { semantics: "saga_step", compensationTool: "lab__cancel_room" },
  compensate: ({ where }, { secret }) => ({ where, pin: secret }),
  execute: act("book_room"),
});
const bookTrain = defineTool({
  ...base,
  name: "lab__book_train",
  transactional: { semantics: "saga_step", compensationTool: "lab__cancel_train" },
  compensate: ({ where }, { secret }) => ({ where, pin: secret }),
  execute: act("book_train"),
});
const payJourney = defineTool({ ...base, name: "lab__pay_journey", execute: act("pay") });
const mailTickets = defineTool({
  ...base,
  name: "lab__mail_tickets",
  transactional: { semantics: "retryable_post_pivot" },
  runtime: { retryForMs: 60_000 },
  execute: act("mail"),
});

const describe = ({ where }: { readonly where: string }) => ({
  action: "Book a journey",
  consequence: `A room and a train to ${where} are booked and paid.`,
});

/** Two steps that can be undone, one that cannot, and one that is repeated after it. */
const bookJourney = defineSaga({
  name: "lab__book_journey",
  version: "1.0.0",
  description: "Books a journey: a room, a train, the money and the tickets.",
  input,
  output: v.strictObject({ ids: v.array(v.string()) }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["where"], output: ["ids"] },
  describe,
  steps: [
    { tool: bookRoom, arguments: (args) => args },
    {
      tool: bookTrain,
      arguments: ({ where }, results) => ({ where, pin: results.of(bookRoom).secret }),
    },
    { tool: payJourney, arguments: ({ where, pin }) => ({ where, pin }) },
    { tool: mailTickets, arguments: ({ where, pin }) => ({ where, pin }) },
  ],
  result: (_args, results) => ({
    ids: [results.of(bookRoom).id, results.of(bookTrain).id, results.of(payJourney).id],
  }),
});

/** A journey that people approve before its steps, of which one asks for people by itself. */
const confirmedRoom = defineTool({
  ...base,
  name: "lab__confirmed_room",
  transactional: {
    semantics: "saga_step",
    compensationTool: "lab__cancel_room",
    confirmationRequired: true,
  },
  describe: ({ where }) => ({ action: "Book a room", consequence: `A room in ${where}.` }),
  compensate: ({ where, pin }) => ({ where, pin }),
  execute: act("confirmed_room"),
});
const confirmedTrain = defineTool({
  ...base,
  name: "lab__confirmed_train",
  transactional: {
    semantics: "saga_step",
    compensationTool: "lab__cancel_train",
    confirmationRequired: true,
  },
  describe: ({ where }) => ({ action: "Book a train", consequence: `A train to ${where}.` }),
  compensate: ({ where, pin }) => ({ where, pin }),
  execute: act("confirmed_train"),
});
const confirmedJourney = defineSaga({
  name: "lab__confirmed_journey",
  version: "1.0.0",
  description: "Books a room and a train, after people have agreed.",
  input,
  output: v.strictObject({ ids: v.array(v.string()) }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["where"], output: ["ids"] },
  transactional: { confirmationRequired: true },
  describe,
  steps: [
    { tool: confirmedRoom, arguments: (args) => args },
    {
      tool: confirmedTrain,
      arguments: ({ where }, results) => ({ where, pin: results.of(confirmedRoom).id }),
    },
  ],
  result: (_args, results) => ({ ids: [results.of(confirmedTrain).id] }),
});

export const JOURNEY_TOOLS: readonly string[] = [
  "lab__book_journey",
  "lab__book_room",
  "lab__book_train",
  "lab__pay_journey",
  "lab__mail_tickets",
  "lab__cancel_room",
  "lab__cancel_train",
];

export const LAB_SAGAS: readonly AnyToolContract[] = [
  cancelRoom,
  cancelTrain,
  bookRoom,
  bookTrain,
  payJourney,
  mailTickets,
  bookJourney,
  confirmedRoom,
  confirmedTrain,
  confirmedJourney,
];
