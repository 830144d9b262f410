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

/** Tools with a price that depends on what happens. */
export const LAB_PRICES: readonly AnyToolContract[] = [rent];
