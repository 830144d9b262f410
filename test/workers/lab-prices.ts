import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** What the machine was rented for. */
export const rented: string[] = [];
beforeEachFile(() => {
  rented.length = 0;
});

/** Costs 100 a second for at most a tenth of one. For `forever` it never answers. */
const rent = defineTool({
  name: "lab__rent_machine",
  version: "1.0.0",
  description: "Computes something on a machine that is rented by the second.",
  input: v.strictObject({ what: v.pipe(v.string(), v.maxLength(40)) }),
  output: v.strictObject({ done: v.boolean() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["what"], output: ["done"] },
  capabilities: [],
  runtime: {
    cost: { currency: "USD", perCall: 100, unit: "second" },
    timeoutMs: 100,
    maxRetries: 0,
  },
  async execute({ what }) {
    rented.push(what);
    if (what === "forever") await new Promise(() => {});
    return ok({ done: true });
  },
});

/** What tools with a price of each call did. */
export const bought: string[] = [];
beforeEachFile(() => {
  bought.length = 0;
});

const priced = {
  version: "1.0.0",
  input: v.strictObject({ what: v.pipe(v.string(), v.maxLength(40)) }),
  output: v.strictObject({ done: v.boolean() }),
  redaction: { args: ["what"], output: ["done"] },
  capabilities: [],
} as const;

const buysFor = (name: string) => ({
  execute({ what }: { readonly what: string }) {
    bought.push(`${name} ${what}`);
    return ok({ done: true });
  },
});

const survey = defineTool({
  ...priced,
  ...buysFor("survey"),
  name: "lab__survey",
  description: "Asks a panel. Each call costs 2.",
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  runtime: { cost: { currency: "USD", perCall: 2, unit: "call" } },
});

const lookUp = defineTool({
  ...priced,
  ...buysFor("look"),
  name: "lab__look_in_register",
  description: "Looks something up in a paid register. Each call costs 1.",
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  runtime: { cost: { currency: "USD", perCall: 1, unit: "call" } },
});

/** Tools with a price. */
export const LAB_PRICES: readonly AnyToolContract[] = [rent, survey, lookUp];
