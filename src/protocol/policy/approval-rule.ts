import * as v from "valibot";
import {
  APPROVAL_PATTERNS,
  isEnoughForCritical,
  PATTERN_DEFAULTS,
  type ApprovalRequirement,
} from "../approval/requirement.ts";
import { lastingRule, mayLast } from "../consent/lasting.ts";
import { recordOf } from "../json/record.ts";
import { SIDE_EFFECT_CLASSES, type SideEffectClass } from "../tool/effect.ts";
import { listOf, money, name, wellFormedText } from "./fields.ts";

/** Longest time that people may have: 30 days. */
const MAX_TTL_SECONDS = 2_592_000;
/** Most people that one rule may need. */
const MAX_REQUIRED = 16;

const role = v.pipe(v.string(), v.regex(/^[a-z0-9_.:-]{1,64}$/));

/** The highest amount of money of each role. */
export const roleLimits = recordOf(role, money);

const personField = v.pipe(
  wellFormedText(512),
  v.regex(
    /^(?:before:|after:)?(?:\/(?:[^/~]|~[01]){1,128}){1,16}$/,
    'a JSON pointer, such as "/requestedBy" or "before:/owner"',
  ),
);

const ruleFields = v.strictObject({
  /** Absent: every tool. */
  tools: v.optional(listOf(name)),
  /** Absent: every class. */
  classes: v.optional(listOf(v.picklist(SIDE_EFFECT_CLASSES))),
  /** The money that a call moves, in the policy's currency. Absent: any amount, or none. */
  amount: v.optional(
    v.pipe(
      v.strictObject({ above: v.optional(money), upTo: v.optional(money) }),
      v.check(({ above, upTo }) => (above ?? -1) < (upTo ?? Infinity), "above less than upTo"),
    ),
  ),
  pattern: v.picklist(APPROVAL_PATTERNS),
  required: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_REQUIRED))),
  roles: v.optional(v.pipe(v.array(role), v.maxLength(16))),
  /** The highest amount that an approver of each role may approve. */
  limits: v.optional(roleLimits),
  excludeRequester: v.optional(v.boolean()),
  /** Fields that must not name the approver; see ApprovalRequirement. */
  approverIsNot: v.optional(v.pipe(v.array(personField), v.minLength(1), v.maxLength(16))),
  ttlSeconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TTL_SECONDS)),
  ),
  /** What a person who consents may consent to beyond the one call. Absent: nothing. */
  lasting: v.optional(lastingRule),
});

/** How a call is approved. See docs/approvals.md. */
export const approvalRule = v.pipe(
  ruleFields,
  v.forward(
    v.check(
      ({ lasting, pattern }) => !lasting || pattern === "user_consent",
      "a consent lasts only under the pattern user_consent",
    ),
    ["lasting"],
  ),
  v.forward(
    v.check(
      ({ lasting, classes = [] }) => !lasting || classes.every(mayLast),
      "no consent to calls of this class lasts",
    ),
    ["classes"],
  ),
);

/** One rule about approvals. */
export type ApprovalRule = v.InferOutput<typeof approvalRule>;

/** What a rule knows of a call. */
export interface RuledCall {
  readonly id: string;
  readonly sideEffectClass: SideEffectClass;
  readonly moved: MovedMoney;
}

/**
 * The money that a call moves: an amount, `unknown` when nobody can read it, or `none` for a tool
 * whose contract declares no amount.
 */
export type MovedMoney = number | "unknown" | "none";

/**
 * Finds the rules that apply to a call: all that name tools, classes or amounts and fit, and then
 * the call is asked about. Without such a rule the first other one only says how to ask.
 * Contract: pure.
 */
export function rulesFor(
  rules: readonly ApprovalRule[],
  call: RuledCall,
): { readonly rules: readonly ApprovalRule[]; readonly isAsked: boolean } {
  const naming = rules.filter((rule) => isNaming(rule) && fits(rule, call));
  if (naming.length > 0) return { rules: naming, isAsked: true };
  const fallback = rules.find((rule) => !isNaming(rule) && mayFallBack(rule, call));
  return { rules: fallback ? [fallback] : [], isAsked: false };
}

/** A rule that names tools, classes or an amount requires approval. Any other only says how. */
export function isNaming({ tools, classes, amount }: ApprovalRule): boolean {
  return tools !== undefined || classes !== undefined || amount !== undefined;
}

function fits({ tools, classes, amount }: ApprovalRule, call: RuledCall): boolean {
  const isNamed = tools !== undefined || classes !== undefined;
  return (
    (tools?.includes(call.id) ?? true) &&
    (classes?.includes(call.sideEffectClass) ?? true) &&
    (amount === undefined || isInRange(amount, call.moved, isNamed))
  );
}

/**
 * Threat: a call hides its amount from the rule that would ask. An amount that nobody can read fits
 * every range. So does a tool without one, where the rule names the tool or its class.
 */
function isInRange(
  { above = -1, upTo = Infinity }: NonNullable<ApprovalRule["amount"]>,
  moved: MovedMoney,
  isNamed: boolean,
): boolean {
  if (typeof moved !== "number") return moved === "unknown" || isNamed;
  return moved > above && moved <= upTo;
}

/** A rule for every tool does not speak of critical mutations when its pattern is too weak. */
function mayFallBack({ pattern }: ApprovalRule, { sideEffectClass }: RuledCall): boolean {
  return sideEffectClass !== "CRITICAL_MUTATION" || isEnoughForCritical(PATTERN_DEFAULTS[pattern]);
}

/**
 * Tells whom a rule asks about a call that moves this much. A rule with limits for a tool that it
 * names, and that declares no amount, asks for people that nobody is. Contract: pure.
 */
export function requirementUnder(rule: ApprovalRule, moved: MovedMoney): ApprovalRequirement {
  const { pattern, required, limits, excludeRequester, approverIsNot, ttlSeconds, lasting } = rule;
  const roles = rule.roles ?? (limits && Object.keys(limits));
  const amount = moved === "none" && !rule.tools ? 0 : moved;
  return {
    ...PATTERN_DEFAULTS[pattern],
    ...(required !== undefined && { required }),
    ...(roles && { roles }),
    ...(excludeRequester !== undefined && { excludesRequester: excludeRequester }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
    ...(approverIsNot && { approverIsNot }),
    ...(limits && { withinLimit: rolesWithin(limits, amount) }),
    ...(lasting && { lasting }),
  };
}

/** Lists the roles that may handle an amount: none when nobody can read it. Contract: pure. */
export function rolesWithin(
  limits: Readonly<Record<string, number>>,
  amount: MovedMoney,
): readonly string[] {
  return Object.entries(limits).flatMap(([held, limit]) =>
    typeof amount === "number" && amount <= limit ? [held] : [],
  );
}
