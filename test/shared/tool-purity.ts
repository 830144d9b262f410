import { parseSync } from "@swc/core";

/**
 * Globals that a tool file may not use: network, clock, randomness and secrets. A tool gets these
 * as capabilities, bound to its invocation (seeds/000 #32, F3).
 */
const FORBIDDEN: ReadonlySet<string> = new Set([
  "Bun",
  "Deno",
  "EventSource",
  "Function",
  "Reflect",
  "Request",
  "WebSocket",
  "XMLHttpRequest",
  "addEventListener",
  "caches",
  "console",
  "crypto",
  "env",
  "eval",
  "fetch",
  "global",
  "globalThis",
  "navigator",
  "performance",
  "process",
  "queueMicrotask",
  "require",
  "scheduler",
  "self",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);

/** Members of these globals that depend only on their arguments. */
const PURE_MEMBERS: Readonly<Record<string, (member: string) => boolean>> = {
  Date: (member) => member === "UTC" || member === "parse",
  Math: (member) => member !== "random",
};

/**
 * Finds forbidden names in a tool's source.
 * Contract: pure; each name once, in order of appearance.
 */
export function impuritiesOf(source: string): readonly string[] {
  const found = new Set<string>();
  visit(parseSync(source, { syntax: "typescript", target: "es2022" }), found);
  return [...found];
}

type Node = Readonly<Record<string, unknown>>;

function visit(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const entry of value) visit(entry, found);
  else if (isNode(value)) visitNode(value, found);
}

function visitNode(node: Node, found: Set<string>): void {
  switch (node["type"]) {
    case "Identifier":
      if (FORBIDDEN.has(textOf(node)) || textOf(node) in PURE_MEMBERS) found.add(textOf(node));
      return;
    case "MetaProperty":
      found.add("import.meta");
      return;
    case "Import":
      found.add("import()");
      return;
    default:
      for (const [field, child] of Object.entries(node)) {
        if (!isInnocent(node, field)) visit(child, found);
      }
  }
}

/** Returns whether a part of a node is only a name, a type, or a pure use of a global. */
function isInnocent(node: Node, field: string): boolean {
  const child = node[field];
  if (!isNode(child) || child["type"] !== "Identifier") return false;
  switch (`${String(node["type"])}.${field}`) {
    case "MemberExpression.property":
    case "TsTypeReference.typeName":
      return true;
    case "MemberExpression.object":
      return isPureMember(textOf(child), node["property"]);
    case "NewExpression.callee":
      return textOf(child) === "Date" && isNonEmpty(node["arguments"]);
    default:
      return field === "key";
  }
}

function isPureMember(object: string, property: unknown): boolean {
  if (!isNode(property) || property["type"] !== "Identifier") return false;
  return PURE_MEMBERS[object]?.(textOf(property)) === true;
}

/** `new Date()` without arguments reads the clock. */
function isNonEmpty(given: unknown): boolean {
  return Array.isArray(given) && given.length > 0;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}

function textOf(identifier: Node): string {
  return String(identifier["value"]);
}
