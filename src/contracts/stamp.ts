import { fnv1a } from "../protocol/text/fnv1a.ts";

/**
 * Hashes all that is data in a value, and which functions it has. Contracts share schemas, and a
 * start has to be short, so each object is hashed once.
 * Contract: equal for equal values of two processes. It finds mistakes, not attacks.
 * Fails: throws for a value that contains itself.
 */
export function stampOf(value: object): number {
  const known = stamps.get(value);
  if (known !== undefined) return known;
  const stamp = fnv1a(formatMembers(value));
  stamps.set(value, stamp);
  return stamp;
}

const stamps = new WeakMap<object, number>();

/** What all schemas of a kind have in common: their `type` stands for it. */
const SHARED = new Set(["kind", "reference", "expects", "~run", "~standard"]);

function formatMembers(value: object): string {
  if (value instanceof RegExp) return String(value);
  if (value instanceof Date) return value.toJSON();
  const isSchema = "~run" in value;
  let text = Array.isArray(value) ? "[" : "{";
  for (const key of Object.keys(value)) {
    if (isSchema && SHARED.has(key)) continue;
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== undefined) text += `${key}:${formatMember(member)},`;
  }
  return text;
}

function formatMember(member: unknown): string {
  if (typeof member === "object" && member !== null) return `#${stampOf(member)}`;
  return typeof member === "function" ? "function" : `${typeof member} ${String(member)}`;
}
