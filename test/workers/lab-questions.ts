import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { crashes } from "./lab-crashes.ts";
import { moved } from "./lab-approvals.ts";

const SEATS = ["window", "aisle", "cockpit"] as const;
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(80));
const bags = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(3));

/** Asks which seat, and needs no approval by itself. */
const seat = defineTool({
  name: "lab__seat",
  version: "1.0.0",
  description: "Reserves a seat.",
  input: v.strictObject({
    flight: text,
    seat: v.optional(v.picklist(SEATS)),
    bags: v.optional(bags),
    pin: v.optional(v.string()),
  }),
  output: v.strictObject({ seat: v.string() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["flight", "seat", "bags"], output: ["seat"] },
  capabilities: [],
  rules: [
    {
      code: "too_heavy",
      message: "a seat at the aisle takes one bag",
      field: "/bags",
      counterexample: { flight: "LH1", seat: "aisle", bags: 2 },
      holds: ({ seat: where, bags: many = 0 }) => where !== "aisle" || many < 2,
    },
  ],
  ask: {
    form: v.strictObject({
      seat: v.pipe(v.picklist(SEATS), v.title("Where do you sit?")),
      bags: v.optional(v.pipe(bags, v.description("Bags that you check in."))),
    }),
    ttlSeconds: 3_600,
    question: ({ flight, pin }) => {
      if (flight === "broken") throw new Error(`no question for ${flight}`);
      if (flight === "any") return null;
      return { text: `Which seat on flight ${flight}${pin === undefined ? "" : `, PIN ${pin}`}?` };
    },
  },
  execute({ flight, seat: where, bags: many }, { runId }) {
    moved.push(`${where ?? "any seat"} on ${flight}${many === undefined ? "" : ` with ${many}`}`);
    const crash = crashes.get(runId);
    crashes.delete(runId);
    crash?.();
    return ok({ seat: where ?? "any" });
  },
});

/** Asks for whom, and the person who asks has to approve it. */
const gift = defineTool({
  name: "lab__gift",
  version: "1.0.0",
  description: "Sends a gift.",
  input: v.strictObject({ what: text, to: v.optional(text) }),
  output: v.strictObject({ sent: v.string() }),
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  redaction: { args: ["what", "to"], output: ["sent"], state: ["sent"] },
  capabilities: [],
  verification: {
    delaySeconds: 3_600,
    expect: ({ what }) => ({ reference: `gifts/${what}`, state: { sent: what } }),
  },
  verify: () => Promise.resolve({ kind: "verified" }),
  describe: ({ what, to }) => ({
    action: `Send ${what}`,
    consequence: `${to ?? "Somebody"} gets ${what}.`,
  }),
  ask: {
    form: v.strictObject({ to: text }),
    question: ({ what }) => ({
      text: `Who gets ${what}?`,
      ...(what === "flowers" && { choices: { to: ["mara@x.example", "nils@x.example"] } }),
    }),
  },
  execute({ what, to }) {
    moved.push(`${what} to ${to ?? "nobody"}`);
    return ok({ sent: what });
  },
});

/** Tools that ask the person before they act. */
export const LAB_QUESTIONS: readonly AnyToolContract[] = [seat, gift];
