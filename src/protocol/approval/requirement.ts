import * as v from "valibot";

/** Patterns of approval (seeds/004, "Confirmation Gate Pattern Library"). */
export const APPROVAL_PATTERNS = [
  /** The person for whom the run acts consents. */
  "user_consent",
  /** Another person reviews the call. */
  "operator_review",
  /** Several people approve, and none of them is the requester. */
  "dual_control",
  /** A compliance officer approves and gives a reason. */
  "compliance",
  /** A person decides later, possibly many approvals at once. */
  "async_review",
] as const;
export type ApprovalPattern = (typeof APPROVAL_PATTERNS)[number];

/** Who must approve a call, and until when. */
export interface ApprovalRequirement {
  readonly pattern: ApprovalPattern;
  /** Number of distinct people who must approve. */
  readonly required: number;
  /** An approver needs one of these roles; an empty list needs none. */
  readonly roles: readonly string[];
  /** The requester must not approve. */
  readonly excludesRequester: boolean;
  /** Only the requester may approve. */
  readonly onlyRequester: boolean;
  /** A vote that approves needs a reason. */
  readonly needsReason: boolean;
  /** Bulk decisions may include it. */
  readonly isBulk: boolean;
  /** Time that people have to vote. */
  readonly ttlSeconds: number;
}

const MINUTE = 60;
const DAY_SECONDS = 86_400;

/** Requirement of each pattern, where policy sets nothing else. */
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

/**
 * Tells whether a requirement is enough for a CRITICAL_MUTATION: two distinct people, or one of a
 * named role; never the requester, and never in a bulk decision.
 * Threat: somebody who may write the policy turns dual control into their own consent.
 */
export function isEnoughForCritical(requirement: ApprovalRequirement): boolean {
  const { required, roles, excludesRequester, isBulk } = requirement;
  return (required > 1 || roles.length > 0) && excludesRequester && !isBulk;
}

/** Longest time that people may have: 30 days. */
const MAX_TTL_SECONDS = 2_592_000;
/** Most people that one call may need. */
const MAX_REQUIRED = 16;

/** Policy fields that set parts of a requirement. The pattern decides the rest. */
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

/** Grows with what a pattern asks of people. */
const STRICTNESS: { readonly [P in ApprovalPattern]: number } = {
  user_consent: 0,
  async_review: 1,
  operator_review: 2,
  compliance: 3,
  dual_control: 4,
};

/**
 * Combines two requirements: a voter must meet both. The result has the stricter pattern.
 * Contract: pure. When nobody can meet both, nobody can meet the result.
 */
export function combineRequirements(
  a: ApprovalRequirement,
  b: ApprovalRequirement,
): ApprovalRequirement {
  return {
    pattern: STRICTNESS[a.pattern] > STRICTNESS[b.pattern] ? a.pattern : b.pattern,
    required: Math.max(a.required, b.required),
    ...combineRoles(a.roles, b.roles),
    excludesRequester: a.excludesRequester || b.excludesRequester,
    onlyRequester: a.onlyRequester || b.onlyRequester,
    needsReason: a.needsReason || b.needsReason,
    isBulk: a.isBulk && b.isBulk,
    ttlSeconds: Math.min(a.ttlSeconds, b.ttlSeconds),
  };
}

/** A role that nobody can hold, because the role pattern refuses an empty text. */
const NOBODY = "";

function combineRoles(
  a: readonly string[],
  b: readonly string[],
): Pick<ApprovalRequirement, "roles"> {
  if (a.length === 0 || b.length === 0) return { roles: [...a, ...b] };
  const both = a.filter((role) => b.includes(role));
  return { roles: both.length > 0 ? both : [NOBODY] };
}
