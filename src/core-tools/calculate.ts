import jsep from "jsep";
import * as v from "valibot";
import { defineCoreTool } from "../contracts/define/core-tool.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";

/** Computes an arithmetic expression. jsep only parses; the evaluator below knows numbers alone. */
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
    const computed = compute(expression);
    return computed.ok
      ? ok({ expression, result: computed.value })
      : fail({
          taxonomyClass: "SEMANTIC_INVALIDITY",
          errors: [{ field: "/expression", code: "bad_expression", message: computed.failure }],
        });
  },
});

jsep.addBinaryOp("^", 11, true);

function compute(expression: string): Result<number, string> {
  let tree: jsep.Expression;
  try {
    tree = jsep(expression);
  } catch {
    return fail("is not an arithmetic expression");
  }
  const computed = evaluate(tree);
  if (!computed.ok || Number.isFinite(computed.value)) return computed;
  return fail("has no finite value");
}

type Computed = Result<number, string>;

function evaluate(tree: jsep.Expression): Computed {
  const node = tree as jsep.CoreExpression;
  if (node.type === "Literal") {
    return typeof node.value === "number" ? ok(node.value) : fail("knows numbers only");
  }
  if (node.type === "Identifier") {
    const constant = CONSTANTS.get(node.name);
    return constant === undefined ? fail("uses an unknown name") : ok(constant);
  }
  if (node.type === "UnaryExpression") return evaluateUnary(node);
  if (node.type === "BinaryExpression") return evaluateBinary(node);
  if (node.type === "CallExpression") return evaluateCall(node);
  return fail("is not an arithmetic expression");
}

function evaluateUnary({ operator, argument }: jsep.UnaryExpression): Computed {
  const operand = evaluate(argument);
  if (!operand.ok) return operand;
  if (operator === "-") return ok(-operand.value);
  return operator === "+" ? operand : fail("uses an unknown operator");
}

function evaluateBinary({ operator, left, right }: jsep.BinaryExpression): Computed {
  const operation = OPERATORS.get(operator);
  if (operation === undefined) return fail("uses an unknown operator");
  // jsep reads -2^2 as (-2)^2 and people do not, so neither is guessed.
  if (operator === "^" && left.type === "UnaryExpression") {
    return fail("is ambiguous: write pow(-2, 2) or 0 - 2^2");
  }
  const a = evaluate(left);
  if (!a.ok) return a;
  const b = evaluate(right);
  return b.ok ? ok(operation(a.value, b.value)) : b;
}

function evaluateCall({ callee, arguments: operands }: jsep.CallExpression): Computed {
  const known =
    callee.type === "Identifier" ? FUNCTIONS.get((callee as jsep.Identifier).name) : undefined;
  if (known === undefined) return fail("calls an unknown function");
  if (operands.length < known.least || operands.length > known.most) {
    return fail("calls a function with the wrong number of arguments");
  }
  const values: number[] = [];
  for (const operand of operands) {
    const value = evaluate(operand);
    if (!value.ok) return value;
    values.push(value.value);
  }
  return ok(known.apply(...values));
}

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

const OPERATORS: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ["+", (a, b) => a + b],
  ["-", (a, b) => a - b],
  ["*", (a, b) => a * b],
  ["/", (a, b) => a / b],
  ["%", (a, b) => a % b],
  ["^", (a, b) => a ** b],
]);

interface KnownFunction {
  readonly apply: (...values: number[]) => number;
  readonly least: number;
  readonly most: number;
}

const one = (apply: (value: number) => number): KnownFunction => ({
  apply: (value = Number.NaN) => apply(value),
  least: 1,
  most: 1,
});

const FUNCTIONS: ReadonlyMap<string, KnownFunction> = new Map([
  ["abs", one(Math.abs)],
  ["ceil", one(Math.ceil)],
  ["cos", one(Math.cos)],
  ["exp", one(Math.exp)],
  ["floor", one(Math.floor)],
  ["ln", one(Math.log)],
  ["log10", one(Math.log10)],
  ["max", { apply: Math.max, least: 1, most: 64 }],
  ["min", { apply: Math.min, least: 1, most: 64 }],
  ["pow", { apply: (a = Number.NaN, b = Number.NaN) => a ** b, least: 2, most: 2 }],
  ["round", one(Math.round)],
  ["sin", one(Math.sin)],
  ["sqrt", one(Math.sqrt)],
  ["tan", one(Math.tan)],
]);
