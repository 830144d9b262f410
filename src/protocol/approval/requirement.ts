import { isWithinOffer, type LastingOffer } from "../consent/lasting.ts";

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

/**
 * Who must approve a call, and until when: what one rule asks. A call may have several
 * requirements. All must be met, and a person counts for one of them.
 */
export type ApprovalRequirement = {
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
  /** Roles whose limit covers the amount of the call; absent: no limit. An approver needs one. */
  readonly withinLimit?: readonly string[];
  /**
   * Fields that must not name the approver: JSON pointers into the arguments, or after `before:`
   * and `after:` into the state that the contract's preview reads. Absent: none.
   */
  readonly approverIsNot?: readonly string[];
  /** What consent to the call may answer beyond it; absent: nothing. */
  readonly lasting?: LastingOffer;
  /** The policy that asks for it; absent: both. A person may count once under each policy. */
  readonly policy?: RunPolicy;
};

/** The policy that the run pinned, and the one that is current. */
export const RUN_POLICIES = ["pinned", "current"] as const;
export type RunPolicy = (typeof RUN_POLICIES)[number];

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

/**
 * Joins what two policies ask. Votes meet the result only when they meet each policy by itself, so
 * when nobody can meet a policy, nobody can meet the result. A requirement that is at least as
 * strict as one of the other policy stands for both. A policy that asks for nothing else leaves the
 * requirements of the other one as they are.
 * Contract: pure.
 */
export function requirementsUnderBoth(
  pinned: readonly ApprovalRequirement[],
  current: readonly ApprovalRequirement[],
): readonly ApprovalRequirement[] {
  const rest = [...current];
  const paired = pinned.map((own) => {
    const at = rest.findIndex((other) => isAtLeast(other, own) || isAtLeast(own, other));
    const [other] = at < 0 ? [] : rest.splice(at, 1);
    return { asked: other && isAtLeast(other, own) ? other : own, isOfBoth: other !== undefined };
  });
  const isMixed = rest.length > 0 && paired.some(({ isOfBoth }) => !isOfBoth);
  return [
    ...paired.map(({ asked, isOfBoth }) =>
      isMixed && !isOfBoth ? markAs("pinned", asked) : asked,
    ),
    ...rest.map((other) => (isMixed ? markAs("current", other) : other)),
  ];
}

function markAs(policy: RunPolicy, asked: ApprovalRequirement): ApprovalRequirement {
  return { ...asked, policy };
}

/** Tells whether people who meet one requirement always meet another one too. Contract: pure. */
export function isAtLeast(one: ApprovalRequirement, other: ApprovalRequirement): boolean {
  return (
    one.required >= other.required &&
    one.ttlSeconds <= other.ttlSeconds &&
    (one.policy ?? other.policy) === other.policy &&
    (one.excludesRequester || !other.excludesRequester) &&
    (one.onlyRequester || !other.onlyRequester) &&
    (one.needsReason || !other.needsReason) &&
    (!one.isBulk || other.isBulk) &&
    isWithinOffer(one.lasting, other.lasting) &&
    (other.roles.length === 0 || (one.roles.length > 0 && isWithin(one.roles, other.roles))) &&
    (!other.withinLimit || (!!one.withinLimit && isWithin(one.withinLimit, other.withinLimit))) &&
    isWithin(other.approverIsNot ?? [], one.approverIsNot ?? [])
  );
}

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  return some.every((item) => all.includes(item));
}
