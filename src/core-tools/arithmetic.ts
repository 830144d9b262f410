import { fail, ok, type Result } from "../protocol/outcome/result.ts";

type Computed = Result<number, string>;

/** The parts of an expression, read from left to right. */
interface Reader {
  readonly parts: readonly string[];
  at: number;
}

/** A number, a name, or one other character. Whitespace separates parts and is none. */
const PART = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[a-z_]\w*|\S/gi;
const NUMBER = /^\.?\d/;
const NAME = /^[a-z_]/i;
const MALFORMED = fail("is not an arithmetic expression");

/**
 * Computes an arithmetic expression of numbers, operators, constants and functions. Names are
 * looked up in the maps below and nowhere else, so no expression reaches an object or runs code.
 * Contract: pure. The depth of the recursion is bounded by the length of the expression.
 * Fails: with a text that says why the expression has no value.
 */
export function computeArithmetic(expression: string): Computed {
  const reader: Reader = { parts: expression.match(PART) ?? [], at: 0 };
  const computed = readSum(reader);
  if (!computed.ok) return computed;
  if (reader.at < reader.parts.length) return MALFORMED;
  return Number.isFinite(computed.value) ? computed : fail("has no finite value");
}

function readSum(reader: Reader): Computed {
  return readChain(reader, SUM_OPERATORS, readProduct);
}

function readProduct(reader: Reader): Computed {
  return readChain(reader, PRODUCT_OPERATORS, readPower);
}

/** Reads operands and the operators between them, and applies these from left to right. */
function readChain(
  reader: Reader,
  operators: Operators,
  readOperand: (reader: Reader) => Computed,
): Computed {
  let left = readOperand(reader);
  for (;;) {
    const apply = operators.get(reader.parts[reader.at] ?? "");
    if (!left.ok || apply === undefined) return left;
    reader.at++;
    const right = readOperand(reader);
    left = right.ok ? ok(apply(left.value, right.value)) : right;
  }
}

/** Reads a power. The right operand is read first: 2^3^2 is 2^9. */
function readPower(reader: Reader): Computed {
  const first = reader.parts[reader.at];
  const base = readSigned(reader);
  if (!base.ok || !take(reader, "^")) return base;
  // Languages read -2^2 in two ways, so neither is guessed.
  if (isSign(first)) return fail("is ambiguous: write pow(-2, 2) or 0 - 2^2");
  const exponent = readPower(reader);
  return exponent.ok ? ok(base.value ** exponent.value) : exponent;
}

function readSigned(reader: Reader): Computed {
  const sign = reader.parts[reader.at];
  if (!isSign(sign)) return readOperand(reader);
  reader.at++;
  const operand = readSigned(reader);
  return operand.ok && sign === "-" ? ok(-operand.value) : operand;
}

function isSign(part: string | undefined): boolean {
  return part === "-" || part === "+";
}

function readOperand(reader: Reader): Computed {
  const part = reader.parts[reader.at++] ?? "";
  if (NUMBER.test(part)) return ok(Number(part));
  if (NAME.test(part)) return take(reader, "(") ? readCall(reader, part) : readConstant(part);
  if (part !== "(") return MALFORMED;
  const inner = readSum(reader);
  return !inner.ok || take(reader, ")") ? inner : MALFORMED;
}

function readConstant(name: string): Computed {
  const constant = CONSTANTS.get(name);
  return constant === undefined ? fail("uses an unknown name") : ok(constant);
}

/** Reads the arguments of a call, whose opening parenthesis is read already. */
function readCall(reader: Reader, name: string): Computed {
  const known = FUNCTIONS.get(name);
  if (known === undefined) return fail("calls an unknown function");
  const values: number[] = [];
  if (!take(reader, ")")) {
    do {
      const value = readSum(reader);
      if (!value.ok) return value;
      values.push(value.value);
    } while (take(reader, ","));
    if (!take(reader, ")")) return MALFORMED;
  }
  return values.length < known.least || values.length > known.most
    ? fail("calls a function with the wrong number of arguments")
    : ok(known.apply(...values));
}

/** Steps over the next part where it is this one. Returns whether it was. */
function take(reader: Reader, part: string): boolean {
  const isNext = reader.parts[reader.at] === part;
  if (isNext) reader.at++;
  return isNext;
}

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

type Operators = ReadonlyMap<string, (left: number, right: number) => number>;

const SUM_OPERATORS: Operators = new Map([
  ["+", (left, right) => left + right],
  ["-", (left, right) => left - right],
]);

const PRODUCT_OPERATORS: Operators = new Map([
  ["*", (left, right) => left * right],
  ["/", (left, right) => left / right],
  ["%", (left, right) => left % right],
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
