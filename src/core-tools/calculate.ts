import * as v from "valibot";
import { defineCoreTool } from "../contracts/define/core-tool.ts";
import { fail, ok } from "../protocol/outcome/result.ts";
import { computeArithmetic } from "./arithmetic.ts";

/** Computes an arithmetic expression. */
export const calculate = defineCoreTool({
  name: "core__calculate",
  version: "1.0.0",
  description:
    "Computes one arithmetic expression exactly as written. Use it for every calculation. Knows " +
    "+ - * / % ^ and parentheses, the constants pi and e, and abs, ceil, cos, exp, floor, ln, log10, " +
    "max, min, pow, round, sin, sqrt, tan (radians). It has no variables and no units.",
  input: v.strictObject({
    expression: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(256),
      v.description('For example "(480 * 12.5) / 100" or "sqrt(2)^3".'),
    ),
  }),
  output: v.strictObject({ expression: v.string(), result: v.number() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["expression"], output: ["expression", "result"] },
  capabilities: [],
  allowedUseCases: ["Any calculation with numbers that are known."],
  forbiddenUseCases: ["Equations with unknowns, units, dates."],
  examples: [
    { description: "A share of a sum.", arguments: { expression: "(480 * 12.5) / 100" } },
    { description: "Powers and roots.", arguments: { expression: "sqrt(2) ^ 3" } },
  ],
  runtime: { timeoutMs: 1000 },
  security: { dataClassification: "public" },
  errors: { bad_expression: "SEMANTIC_INVALIDITY" },
  execute({ expression }) {
    const computed = computeArithmetic(expression);
    return computed.ok
      ? ok({ expression, result: computed.value })
      : fail({
          taxonomyClass: "SEMANTIC_INVALIDITY",
          errors: [{ field: "/expression", code: "bad_expression", message: computed.failure }],
        });
  },
});
