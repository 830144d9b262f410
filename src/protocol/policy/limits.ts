import * as v from "valibot";
import type { BudgetAmounts } from "../budget/amounts.ts";
import { toMillionths } from "../budget/millionths.ts";
import { MAX_CONVERSATION_BYTES } from "../conversation/message.ts";
import { count, money, positive, windowSeconds } from "./fields.ts";

/** Limits of what calls take, which a run and a tenant both can have. */
const ofCalls = {
  maxReads: v.optional(count),
  maxWrites: v.optional(count),
  maxExternal: v.optional(count),
  /** Calls of class CRITICAL_MUTATION. Default: 0. */
  maxCritical: v.optional(count),
  /** Money that calls move. */
  maxFinancial: v.optional(money),
  /** Money that calls cost. */
  maxCost: v.optional(money),
};

/** Accepts limits of what the calls of one run take. */
export const callLimits = v.strictObject(ofCalls);
export type CallLimits = v.InferOutput<typeof callLimits>;

/** The same with the tokens of model calls. */
const amounts = { ...ofCalls, maxTokens: v.optional(count) };

/** Longest time of one run. A timer that waits longer than 24 days would ring at once. */
const DAY_MS = 86_400_000;

const MIB = 1024 * 1024;
/** The tables of a run take about 50 KiB. */
const MIN_STORED_BYTES = MIB / 4;

/** Accepts the limits of one run, and of one call where the comment says so. */
export const runLimits = v.strictObject({
  /** Of one call. */
  maxRuntimeMs: v.optional(positive),
  /** Of one call. */
  maxResultBytes: v.optional(positive),
  maxSteps: v.optional(v.pipe(positive, v.maxValue(100))),
  maxWallClockMs: v.optional(v.pipe(positive, v.maxValue(DAY_MS))),
  /** Of one model call. */
  maxOutputTokens: v.optional(v.pipe(positive, v.maxValue(1_000_000))),
  maxRetries: v.optional(count),
  /** Steps with refused calls of one tool, which the model may correct. */
  maxRepairs: v.optional(count),
  /** Approvals that wait for people at the same time. */
  maxOpenApprovals: v.optional(count),
  /** Calls about which people are asked, from the start of the run to its end. */
  maxApprovalRequests: v.optional(count),
  /** Everything that the run stores, the conversation that it continues included. */
  maxStoredBytes: v.optional(v.pipe(positive, v.minValue(MIN_STORED_BYTES))),
  /** The conversation that a run copies from the run that it continues. */
  maxHistoryBytes: v.optional(v.pipe(count, v.maxValue(MAX_CONVERSATION_BYTES))),
  ...amounts,
});

/** Limits of one run. */
export type RunLimits = v.InferOutput<typeof runLimits>;

/** Accepts the limits of all runs of a tenant together, within a window. */
export const tenantLimits = v.strictObject({
  windowSeconds: v.optional(windowSeconds, 86_400),
  maxStoredBytes: v.optional(positive),
  /** Of the runs of one actor. The run of an agent counts for the person that it acts for. */
  maxStoredBytesPerActor: v.optional(positive),
  /** Approvals of all runs that wait for people at the same time. */
  maxOpenApprovals: v.optional(count),
  /** Likewise, of the runs of one actor. */
  maxOpenApprovalsPerActor: v.optional(count),
  ...amounts,
});

/** Limits of all runs of a tenant together. */
export type TenantLimits = v.InferOutput<typeof tenantLimits>;

/** Limits of a run where its policy names none. */
export const IMPLIED_LIMITS = {
  maxSteps: 20,
  /** As long as the platform keeps a run awake without a reader. */
  maxWallClockMs: 15 * 60_000,
  maxRepairs: 4,
  maxOpenApprovals: 10,
  maxApprovalRequests: 30,
  maxStoredBytes: 16 * MIB,
  /** As much as the body of a request may hold. */
  maxHistoryBytes: MIB,
  maxCritical: 0,
} as const satisfies RunLimits;

/** What a tenant and one actor may store in a day, where the policy names no limit. */
const IMPLIED_DAILY_BYTES = { tenant: 16 * 1024 * MIB, actor: 1024 * MIB } as const;

/** Limits of the approvals of a tenant that wait for people at the same time. */
export interface OpenApprovalLimits {
  readonly tenant: number;
  readonly actor: number;
}

const IMPLIED_OPEN_APPROVALS: OpenApprovalLimits = { tenant: 1_000, actor: 50 };

/** Reads the limits of open approvals under several policies; the lowest one of each counts. */
export function openApprovalLimitsOf(policies: readonly TenantLimits[]): OpenApprovalLimits {
  const { tenant, actor } = IMPLIED_OPEN_APPROVALS;
  return {
    tenant: Math.min(...policies.map(({ maxOpenApprovals = tenant }) => maxOpenApprovals)),
    actor: Math.min(
      ...policies.map(({ maxOpenApprovalsPerActor = actor }) => maxOpenApprovalsPerActor),
    ),
  };
}

/** Limits of what runs store within a window. Unit: bytes. */
export interface StorageLimits {
  readonly windowSeconds: number;
  readonly tenantBytes: number;
  readonly actorBytes: number;
}

/** Reads the storage limits. An implied limit grows with a window that is longer than a day. */
export function storageLimitsOf(limits: TenantLimits): StorageLimits {
  const { windowSeconds, maxStoredBytes, maxStoredBytesPerActor } = limits;
  const days = Math.max(1, (windowSeconds * 1_000) / DAY_MS);
  return {
    windowSeconds,
    tenantBytes: maxStoredBytes ?? IMPLIED_DAILY_BYTES.tenant * days,
    actorBytes: maxStoredBytesPerActor ?? IMPLIED_DAILY_BYTES.actor * days,
  };
}

/**
 * Reads the budget amounts of a policy section. Critical mutations are 0 unless the section says
 * otherwise.
 */
export function limitsOf(section: RunLimits | TenantLimits): BudgetAmounts {
  return { critical: IMPLIED_LIMITS.maxCritical, ...amountsOf(section) };
}

/** Reads limits of what calls take; a limit that is absent stays absent. */
export function amountsOf(section: RunLimits | TenantLimits): BudgetAmounts {
  const { maxReads, maxWrites, maxExternal, maxCritical, maxFinancial, maxCost, maxTokens } =
    section;
  return {
    ...(maxReads !== undefined && { reads: maxReads }),
    ...(maxWrites !== undefined && { writes: maxWrites }),
    ...(maxExternal !== undefined && { external: maxExternal }),
    ...(maxCritical !== undefined && { critical: maxCritical }),
    ...(maxFinancial !== undefined && { financial: toMillionths(maxFinancial) }),
    ...(maxCost !== undefined && { cost: toMillionths(maxCost) }),
    ...(maxTokens !== undefined && { tokens: maxTokens }),
  };
}
