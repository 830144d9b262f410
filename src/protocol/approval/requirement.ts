import * as v from "valibot";

/** How people are asked (seeds/004, "Confirmation Gate Pattern Library"). */
export const APPROVAL_PATTERNS = [
  /** The person on whose account the run acts says yes. */
  "user_consent",
  /** Somebody else looks at it. */
  "operator_review",
  /** Several people, none of them the one who asked. */
  "dual_control",
  /** Somebody who answers for the rules, with a reason. */
  "compliance",
  /** A queue that can wait, and be decided many at a time. */
  "async_review",
] as const;
export type ApprovalPattern = (typeof APPROVAL_PATTERNS)[number];

/** Who has to agree to a call, and until when. */
export interface ApprovalRequirement {
  readonly pattern: ApprovalPattern;
  /** Distinct people who have to approve. */
  readonly required: number;
  /** One of these roles is needed; empty asks for none. */
  readonly roles: readonly string[];
  /** The person who asked does not count. */
  readonly excludesRequester: boolean;
  /** Nobody but the person who asked counts. */
  readonly onlyRequester: boolean;
  /** An approval without a reason is refused. */
  readonly needsReason: boolean;
  /** May be decided together with others. */
  readonly isBulk: boolean;
  /** How long people have. */
  readonly ttlSeconds: number;
}

const MINUTE = 60;
const DAY_SECONDS = 86_400;

/** What a pattern means where policy says nothing else. */
export const PATTERN_DEFAULTS: { readonly [P in ApprovalPattern]: ApprovalRequirement } = {
  user_consent: {
    pattern: "user_consent",
    required: 1,
    roles: [],
    excludesRequester: false,
    onlyRequester: true,
    needsReason: false,
    isBulk: false,
    ttlSeconds: 10 * MINUTE,
  },
  operator_review: {
    pattern: "operator_review",
    required: 1,
    roles: ["operator"],
    excludesRequester: true,
    onlyRequester: false,
    needsReason: false,
    isBulk: false,
    ttlSeconds: 60 * MINUTE,
  },
  dual_control: {
    pattern: "dual_control",
    required: 2,
    roles: ["approver", "operator"],
    excludesRequester: true,
    onlyRequester: false,
    needsReason: false,
    isBulk: false,
    ttlSeconds: 60 * MINUTE,
  },
  compliance: {
    pattern: "compliance",
    required: 1,
    roles: ["compliance"],
    excludesRequester: true,
    onlyRequester: false,
    needsReason: true,
    isBulk: false,
    ttlSeconds: DAY_SECONDS,
  },
  async_review: {
    pattern: "async_review",
    required: 1,
    roles: ["operator"],
    excludesRequester: true,
    onlyRequester: false,
    needsReason: false,
    isBulk: true,
    ttlSeconds: DAY_SECONDS,
  },
};

/** Longest time that people may be given: 30 days. */
const MAX_TTL_SECONDS = 2_592_000;
/** Most people that one call may need. */
const MAX_REQUIRED = 16;

/** What a policy may set of a requirement; the rest follows from the pattern. */
export const requirementFields = {
  pattern: v.picklist(APPROVAL_PATTERNS),
  required: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_REQUIRED))),
  roles: v.optional(
    v.pipe(v.array(v.pipe(v.string(), v.regex(/^[a-z0-9_.:-]{1,64}$/))), v.maxLength(16)),
  ),
  excludeRequester: v.optional(v.boolean()),
  ttlSeconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_TTL_SECONDS)),
  ),
};

/** Asks for all that either asks for. Contract: where nobody can meet both, nobody meets the result. */
export function combineRequirements(
  a: ApprovalRequirement,
  b: ApprovalRequirement,
): ApprovalRequirement {
  return {
    pattern: b.pattern,
    required: Math.max(a.required, b.required),
    ...combineRoles(a.roles, b.roles),
    excludesRequester: a.excludesRequester || b.excludesRequester,
    onlyRequester: a.onlyRequester || b.onlyRequester,
    needsReason: a.needsReason || b.needsReason,
    isBulk: a.isBulk && b.isBulk,
    ttlSeconds: Math.min(a.ttlSeconds, b.ttlSeconds),
  };
}

/** A role that nobody can hold, for it is no word. */
const NOBODY = "";

function combineRoles(
  a: readonly string[],
  b: readonly string[],
): Pick<ApprovalRequirement, "roles"> {
  if (a.length === 0 || b.length === 0) return { roles: [...a, ...b] };
  const both = a.filter((role) => b.includes(role));
  return { roles: both.length > 0 ? both : [NOBODY] };
}
