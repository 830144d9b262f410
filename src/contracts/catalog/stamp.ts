import { fnv1a } from "../../protocol/text/fnv1a.ts";

/**
 * Hashes all that is data in a value, and which functions it has. A start has to be short, and
 * contracts share schemas and words, so each object and each text is hashed once.
 * Contract: equal for equal values of two processes. It finds mistakes, not attacks.
 * Fails: throws for a value that contains itself.
 */
export function stampOf(value: object): number {
  const known = stamps.get(value);
  if (known !== undefined) return known;
  const stamp = stampOfMembers(value);
  stamps.set(value, stamp);
  return stamp;
}

const stamps = new WeakMap<object, number>();

/** What all schemas of a type have in common: their `type` stands for it. */
const SHARED = new Set(["kind", "reference", "expects", "~run", "~standard"]);

function stampOfMembers(value: object): number {
  if (value instanceof RegExp) return stampOfText(String(value));
  if (value instanceof Date) return stampOfText(value.toJSON());
  const isSchema = "~run" in value;
  let stamp = stampOfText(Array.isArray(value) ? "[" : "{");
  for (const key of Object.keys(value)) {
    if (isSchema && SHARED.has(key)) continue;
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    stamp = join(join(stamp, stampOfText(key)), stampOfMember(member));
  }
  return stamp;
}

function stampOfMember(member: unknown): number {
  if (typeof member === "object" && member !== null) return stampOf(member);
  if (typeof member === "function") return stampOfText("function");
  return join(stampOfText(typeof member), stampOfText(String(member)));
}

const stampsOfTexts = new Map<string, number>();

function stampOfText(text: string): number {
  const known = stampsOfTexts.get(text);
  if (known !== undefined) return known;
  const stamp = fnv1a(text);
  stampsOfTexts.set(text, stamp);
  return stamp;
}

/** Continues a hash as FNV-1a does, but by a whole hash instead of a byte. */
function join(stamp: number, next: number): number {
  return Math.imul(stamp ^ next, 0x01000193) >>> 0;
}
