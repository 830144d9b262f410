import * as v from "valibot";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { fromPointer } from "../json/pointer.ts";
import { wellFormedText } from "./fields.ts";

const number = v.pipe(v.number(), v.finite());
const scalar = v.nullable(v.union([wellFormedText(1024), number, v.boolean()]));

const oneOf = <T>(item: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T[]> =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(256));

const affix = v.pipe(wellFormedText(256), v.minLength(1));
/** A host as a parsed URL spells it, without a port. */
const host = v.pipe(
  v.string(),
  v.maxLength(255),
  v.regex(
    /^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$|^\[[0-9a-f:.]+\]$/,
    "a host in lower case, without a port",
  ),
);

/** Accepts a JSON pointer into arguments or output; `*` means every item of a list. */
export const argumentField = v.pipe(
  wellFormedText(2048),
  v.regex(/^(?:\/(?:[^/~]|~[01]){1,128}){1,16}$/, 'a JSON pointer, such as "/to/*/address"'),
);

/**
 * One condition on one field of a call's arguments. A rule has exactly one predicate. Several rules
 * on one field must all hold.
 */
export const argumentRule = v.strictObject({
  /** Tool id. */
  tool: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  /** JSON pointer into the arguments; `*` means every item of a list. */
  field: argumentField,
  must: v.pipe(
    v.strictObject({
      equal: v.optional(scalar),
      beOneOf: v.optional(oneOf(scalar)),
      notBeOneOf: v.optional(oneOf(scalar)),
      beAtLeast: v.optional(number),
      beAtMost: v.optional(number),
      /** Counts UTF-16 units of a text, or items of a list. */
      haveLengthAtMost: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
      startWithOneOf: v.optional(oneOf(affix)),
      endWithOneOf: v.optional(oneOf(affix)),
      /**
       * An http or https URL with one of these hosts. An entry with a leading dot covers
       * subdomains.
       */
      haveHostIn: v.optional(oneOf(host)),
      beAbsent: v.optional(v.literal(true)),
    }),
    v.check((must) => Object.keys(must).length === 1, "exactly one predicate"),
  ),
});

export type ArgumentRule = v.InferOutput<typeof argumentRule>;
type ArgumentPredicate = keyof ArgumentRule["must"];

/** The rule that a call breaks: enough for a repair, and never the value of the field. */
export interface BrokenRule {
  /** JSON pointer of the rule, with its `*`. */
  readonly field: string;
  readonly predicate: ArgumentPredicate;
  /** Present when the predicate compares a number or a length. */
  readonly limit?: number;
}

/**
 * Finds the first rule that a call's arguments break.
 * Threat: arguments that look harmless to a rule and mean something else to the tool. A missing
 * field or a field of another type breaks every rule except `beAbsent`. Only own properties count.
 * A host counts only in a URL that every parser reads the same way.
 * Contract: pure and total; never throws; linear in the arguments for each rule.
 */
export function findBrokenRule(
  rules: readonly ArgumentRule[],
  toolId: string,
  args: JsonObject,
): BrokenRule | undefined {
  const broken = rules.find((rule) => rule.tool === toolId && !holds(rule, args));
  return broken && describe(broken);
}

/**
 * Lists the indexes of the rules that no value can meet together with earlier rules on the same
 * field. Contract: pure; it finds contradictions of values, bounds and absence, not every one.
 */
export function findUnmeetableRules(rules: readonly ArgumentRule[]): readonly number[] {
  return rules.flatMap(({ tool, field }, index) => {
    // An empty list meets every rule on its items.
    if (field.split("/").includes("*")) return [];
    const together = rules
      .slice(0, index + 1)
      .filter((other) => other.tool === tool && other.field === field)
      .map(({ must }) => must);
    return canBeMet(together) ? [] : [index];
  });
}

function canBeMet(musts: readonly ArgumentRule["must"][]): boolean {
  const values = musts.flatMap(({ equal, beOneOf = [] }) =>
    equal === undefined ? beOneOf : [equal],
  );
  if (values.length > 0) {
    return values.some((value) => musts.every((must) => meetsPredicate(must, value)));
  }
  if (musts.some(({ beAbsent }) => beAbsent)) return musts.every(({ beAbsent }) => beAbsent);
  const least = Math.max(...musts.map(({ beAtLeast = -Infinity }) => beAtLeast));
  return least <= Math.min(...musts.map(({ beAtMost = Infinity }) => beAtMost));
}

function holds({ field, must }: ArgumentRule, args: JsonObject): boolean {
  const meets = (value: JsonValue | undefined): boolean =>
    value === undefined ? must.beAbsent === true : meetsPredicate(must, value);
  return holdsAt(args, fromPointer(field), meets);
}

/** Walks to every value that the path names. */
function holdsAt(
  value: JsonValue | undefined,
  [key, ...rest]: readonly string[],
  meets: (value: JsonValue | undefined) => boolean,
): boolean {
  if (key === undefined || value === undefined) return meets(value);
  if (key === "*") return isJsonArray(value) && value.every((item) => holdsAt(item, rest, meets));
  return holdsAt(childOf(value, key), rest, meets);
}

function childOf(value: JsonValue, key: string): JsonValue | undefined {
  const holder = isJsonArray(value) ? isIndex(key) && value : isJsonObject(value) && value;
  if (holder === false || !Object.hasOwn(holder, key)) return undefined;
  return (holder as JsonObject)[key];
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/.test(key);
}

function meetsPredicate(must: ArgumentRule["must"], value: JsonValue): boolean {
  const isScalar = typeof value !== "object" || value === null;
  if (must.equal !== undefined) return value === must.equal;
  if (must.beOneOf) return isScalar && must.beOneOf.includes(value);
  if (must.notBeOneOf) return isScalar && !must.notBeOneOf.includes(value);
  if (must.beAtLeast !== undefined) return typeof value === "number" && value >= must.beAtLeast;
  if (must.beAtMost !== undefined) return typeof value === "number" && value <= must.beAtMost;
  if (must.haveLengthAtMost !== undefined) {
    return (
      (typeof value === "string" || isJsonArray(value)) && value.length <= must.haveLengthAtMost
    );
  }
  if (typeof value !== "string") return false;
  if (must.startWithOneOf) return must.startWithOneOf.some((start) => value.startsWith(start));
  if (must.endWithOneOf) return must.endWithOneOf.some((end) => value.endsWith(end));
  return must.haveHostIn !== undefined && hasHostIn(value, must.haveHostIn);
}

/** No userinfo, no percent sign and no character that some URL parser reads as a slash. */
const PLAIN_AUTHORITY =
  /^https?:\/\/(?<written>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?(?:[/?#]|$)/i;

function hasHostIn(url: string, hosts: readonly string[]): boolean {
  const written = PLAIN_AUTHORITY.exec(url)?.groups?.["written"]?.toLowerCase();
  // One parser reads `012.0.0.1` as 10.0.0.1, another as 12.0.0.1. So the spelling must be
  // canonical.
  if (written === undefined || URL.parse(url)?.hostname !== written) return false;
  const host = written.replace(/\.$/, "");
  return hosts.some((allowed) =>
    allowed.startsWith(".")
      ? host.length > allowed.length && host.endsWith(allowed)
      : host === allowed,
  );
}

const LIMITS = ["beAtLeast", "beAtMost", "haveLengthAtMost"] as const;

function describe({ field, must }: ArgumentRule): BrokenRule {
  const [predicate] = Object.keys(must) as [ArgumentPredicate];
  const limit = LIMITS.map((name) => must[name]).find((value) => value !== undefined);
  return { field, predicate, ...(limit !== undefined && { limit }) };
}
