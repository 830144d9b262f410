import { MAX_JSON_DEPTH } from "../json/guard.ts";
import { toPointer } from "../json/pointer.ts";
import { isJsonArray, type JsonValue } from "../json/value.ts";

/** A value that holds only references is never nested deeper than this. */
const MAX_DEPTH = 16;
/** Replaces a property name that is itself a secret. */
const HIDDEN_NAME = "…";

/** Types whose values hold neither text nor properties. */
const INNOCENT: ReadonlySet<string> = new Set(["number", "boolean", "undefined"]);

/** Words in the names of secrets, in lower case and without separators. */
const SECRET_NAME =
  /token|secret|passw|passphrase|authori[sz]ation|credential|cookie|bearer|refresh|jwt|(?:api|private|access|signing|encryption|session|client|shared)key|authheader/;

/** Shapes of secrets. Each pattern reads a text once. */
const SECRET_VALUES: readonly RegExp[] = [
  // Authorization headers.
  /\bbearer\s+\S{8}/i,
  /\bbasic\s+[A-Za-z0-9+/]{8}/i,
  // JSON Web Tokens, found from the dot backwards: forwards, each of many starts reads to the end.
  /(?<=(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,})\.[A-Za-z0-9_-]{8}/,
  // API keys with a known prefix.
  /(?<![A-Za-z0-9])(?:sk-|[spr]k_(?:live|test)_)[A-Za-z0-9_-]{8}/,
  /(?<![A-Za-z0-9])gh[a-z]_[A-Za-z0-9]{16}/,
  /(?<![A-Za-z0-9])(?:github_pat_|glpat-|npm_|ilk_)[A-Za-z0-9_-]{16}/,
  /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8}/,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30}/,
  /-----BEGIN /,
  // A URL with user name or password.
  /:\/\/[^\s/?#@]+@/,
];

/**
 * Finds the first property whose name or value looks like a secret. Returns its JSON pointer, or
 * the empty pointer for the value itself; undefined when there is none (seeds/000 #28). A value
 * that cannot be searched, such as a function or a map, counts as a secret.
 * Limit: it knows shapes. An opaque secret under an innocent name passes.
 * Contract: pure; the pointer holds no secret.
 */
export function findSecret(value: unknown): string | undefined {
  const path = findIn(value, []);
  return path && toPointer(path);
}

/** Replaces a masked value. */
export const MASKED = "[secret]";

/**
 * Makes a value safe to store. It masks everything that looks like a secret, by its value or by its
 * property's name. It repairs half characters, so that the rest has a canonical form.
 * Limit: that of `findSecret`. Redaction by allowlist comes first.
 * Contract: pure; never throws for a parsed JSON value of any depth. It masks what is deeper than
 * MAX_JSON_DEPTH.
 */
export function maskSecrets(value: JsonValue, depth = 0): JsonValue {
  if (typeof value === "string") return looksSecret(value) ? MASKED : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_JSON_DEPTH) return MASKED;
  if (isJsonArray(value)) return value.map((item) => maskSecrets(item, depth + 1));
  const entries = Object.entries(value).map(([name, item]) => maskEntry(name, item, depth));
  return Object.fromEntries(entries);
}

function maskEntry(name: string, value: JsonValue, depth: number): readonly [string, JsonValue] {
  if (looksSecret(name)) return [HIDDEN_NAME, MASKED];
  return [name.toWellFormed(), namesSecret(name) ? MASKED : maskSecrets(value, depth + 1)];
}

type Path = readonly string[];

function findIn(value: unknown, path: Path): Path | undefined {
  if (typeof value === "string") return looksSecret(value) ? path : undefined;
  if (typeof value === "object" && value !== null) return findInObject(value, path);
  return INNOCENT.has(typeof value) || value === null ? undefined : path;
}

function findInObject(value: object, path: Path): Path | undefined {
  if (!isPlain(value) || path.length >= MAX_DEPTH) return path;
  for (const [name, entry] of Object.entries(value)) {
    if (looksSecret(name)) return [...path, HIDDEN_NAME];
    const at = [...path, name];
    const found = namesSecret(name) ? at : findIn(entry, at);
    if (found) return found;
  }
  return undefined;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function namesSecret(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
}

function looksSecret(text: string): boolean {
  return SECRET_VALUES.some((pattern) => pattern.test(text));
}
