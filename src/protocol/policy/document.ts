import * as v from "valibot";
import {
  PATTERN_DEFAULTS,
  requirementFields,
  type ApprovalRequirement,
} from "../approval/requirement.ts";
import { argumentRule } from "./argument-rule.ts";
import type { BudgetAmounts } from "../budget/amounts.ts";
import { isWholeMillionths, toMillionths } from "../budget/millionths.ts";
import {
  SIDE_EFFECT_CLASSES,
  type SideEffectClass,
  TOOL_EFFECTS,
  type ToolEffect,
} from "../tool/effect.ts";
import { webOrigin } from "../identity/web-origin.ts";

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** In units of the policy's currency, to the millionth. */
const money = v.pipe(
  v.number(),
  v.minValue(0),
  v.maxValue(1e9),
  v.check((amount) => isWholeMillionths(amount), "at most six decimals"),
);
/** Fixed windows, at most 31 days long, so that what is counted over them stays bounded. */
const windowSeconds = v.pipe(positive, v.maxValue(2_678_400));
/** Lone surrogates have no canonical JSON. */
const text = (maxChars: number) =>
  v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(maxChars),
    v.check((value) => value.isWellFormed(), "whole characters"),
  );
const name = text(64);
const actor = text(128);
const A_TIME = "a time that exists, with a zone: 2027-06-30T00:00:00Z";
const timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(A_TIME),
  v.check((value) => Number.isFinite(Date.parse(value)), A_TIME),
);

const few = <T>(item: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T[]> =>
  v.pipe(v.array(item), v.maxLength(1024));

const rateLimit = v.strictObject({ windowSeconds, maxRequests: positive });

/** Limits that hold for a run and for a tenant alike. */
const amounts = {
  maxReads: v.optional(count),
  maxWrites: v.optional(count),
  maxExternal: v.optional(count),
  /** Calls of class CRITICAL_MUTATION; none unless it says otherwise. */
  maxCritical: v.optional(count),
  /** Money that calls move. */
  maxFinancial: v.optional(money),
  /** Money that calls cost. */
  maxCost: v.optional(money),
  maxTokens: v.optional(count),
};

const allowedTool = v.strictObject({
  id: name,
  /** Versions that may run, the preferred one first; absent means the newest active one. */
  versions: v.optional(v.pipe(v.array(name), v.minLength(1), v.maxLength(16))),
  /** Routes a share of runs to another version, each run to one for good. */
  canary: v.optional(
    v.strictObject({
      version: name,
      percent: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
    }),
  ),
  /** Scopes that the caller needs beside those of the contract. */
  scopes: v.optional(few(name), []),
  /** Calls of the tenant; the contract's own limit holds for each run. */
  rateLimit: v.optional(rateLimit),
});

/** Longest time of one run; a timer that waits longer than 24 days would ring at once. */
const DAY_MS = 86_400_000;

/** Limits of one run, and of one call where the name says so. */
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
  ...amounts,
});

/** Limits of one run. */
export type RunLimits = v.InferOutput<typeof runLimits>;

/** What holds for a run where its policy says nothing. */
export const IMPLIED_LIMITS = {
  maxSteps: 20,
  /** As long as the platform keeps a run awake without a reader. */
  maxWallClockMs: 15 * 60_000,
  maxRepairs: 4,
  maxCritical: 0,
} as const satisfies RunLimits;

/** The policy document: what `PUT /v1/policy` takes. */
export const toolPolicyDocument = v.strictObject({
  /** Tools that may run; everything else is denied. */
  allowedTools: few(
    v.pipe(
      v.unknown(),
      v.transform((entry) => (typeof entry === "string" ? { id: entry } : entry)),
      allowedTool,
    ),
  ),
  /** Effects that a person must approve first. */
  requireApprovalForEffects: v.optional(few(v.picklist(TOOL_EFFECTS)), []),
  /** Side-effect classes that a person must approve first. */
  requireApprovalForClasses: v.optional(few(v.picklist(SIDE_EFFECT_CLASSES)), []),
  /** How people are asked; the first rule that fits a tool counts. See docs/approvals.md. */
  approvals: v.optional(
    few(
      v.strictObject({
        /** Absent means every tool, like `classes`. */
        tools: v.optional(few(name)),
        classes: v.optional(few(v.picklist(SIDE_EFFECT_CLASSES))),
        ...requirementFields,
      }),
    ),
    [],
  ),
  argumentRules: v.optional(few(argumentRule), []),
  /** Who may use which stored connection for which tool. */
  grants: v.optional(
    few(
      v.strictObject({
        connectionId: name,
        tools: few(name),
        /** Absent means every actor of the tenant. */
        actors: v.optional(few(actor)),
        expiresAt: v.optional(timestamp),
      }),
    ),
    [],
  ),
  /** Who may act for whom, with which tools. */
  delegations: v.optional(
    few(v.strictObject({ actorId: actor, subjectId: actor, tools: few(name) })),
    [],
  ),
  /** Origins of pages that may call the API; see docs/identity.md. */
  origins: v.optional(v.pipe(v.array(webOrigin), v.maxLength(64)), []),
  /** ISO 4217; calls that move or cost money in another one are denied. */
  currency: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, "three capital letters, ISO 4217")),
    "USD",
  ),
  budgets: v.optional(runLimits, {}),
  /** Limits of all runs of the tenant together, within a window. */
  tenantBudgets: v.optional(
    v.strictObject({ windowSeconds: v.optional(windowSeconds, 86_400), ...amounts }),
    {},
  ),
});

/** One entry of the allowlist. */
export interface AllowedTool {
  readonly id: string;
  readonly versions?: readonly string[] | undefined;
  readonly canary?: { readonly version: string; readonly percent: number } | undefined;
  readonly scopes: readonly string[];
  readonly rateLimit?: { readonly windowSeconds: number; readonly maxRequests: number } | undefined;
}

/** The tenant's policy, as data (seeds/000 #19). */
export type ToolPolicy = v.InferOutput<typeof toolPolicyDocument>;

export type PolicyDecision = "allow" | "deny" | "require_approval";

/** What governs a tenant without a readable policy: nothing is allowed (seeds/000 #20). */
export const DENY_ALL: ToolPolicy = v.parse(toolPolicyDocument, { allowedTools: [] });

/** Reads a policy document; undefined when it is not exactly one. */
export function parseToolPolicy(document: unknown): ToolPolicy | undefined {
  const parsed = v.safeParse(toolPolicyDocument, document);
  return parsed.success ? parsed.output : undefined;
}

/** What a decision is made on. */
export interface DecidedTool {
  readonly id: string;
  readonly version: string;
  readonly effect: ToolEffect;
  readonly sideEffectClass: SideEffectClass;
  /** The contract itself asks for a person. */
  readonly confirmationRequired: boolean;
}

/** Decides whether a tool may run. Used for the catalog and again at execution. */
export function decide(policy: ToolPolicy, tool: DecidedTool): PolicyDecision {
  const entry = entryOf(policy, tool.id);
  if (!entry || !allowsVersion(entry, tool.version)) return "deny";
  const asks =
    tool.confirmationRequired ||
    policy.requireApprovalForEffects.includes(tool.effect) ||
    policy.requireApprovalForClasses.includes(tool.sideEffectClass) ||
    policy.approvals.some((rule) => names(rule) && fits(rule, tool));
  return asks ? "require_approval" : "allow";
}

type ApprovalRule = ToolPolicy["approvals"][number];

/** A rule that names tools or classes asks for people; any other only says how they are asked. */
function names({ tools, classes }: ApprovalRule): boolean {
  return tools !== undefined || classes !== undefined;
}

/** The consent of one person is never enough for what cannot be undone by anybody. */
function fits({ tools, classes, pattern }: ApprovalRule, tool: DecidedTool): boolean {
  const isEnough = pattern !== "user_consent" || tool.sideEffectClass !== "CRITICAL_MUTATION";
  return (
    isEnough &&
    (tools?.includes(tool.id) ?? true) &&
    (classes?.includes(tool.sideEffectClass) ?? true)
  );
}

/** Tells who has to agree to a call of a tool; undefined when nobody is asked. */
export function requirementOf(
  policy: ToolPolicy,
  tool: DecidedTool,
): ApprovalRequirement | undefined {
  if (decide(policy, tool) !== "require_approval") return undefined;
  const rule = policy.approvals.find((candidate) => fits(candidate, tool));
  if (!rule) {
    const isCritical = tool.sideEffectClass === "CRITICAL_MUTATION";
    return PATTERN_DEFAULTS[isCritical ? "dual_control" : "user_consent"];
  }
  const { pattern, required, roles, excludeRequester, ttlSeconds } = rule;
  const defaults = PATTERN_DEFAULTS[pattern];
  return {
    ...defaults,
    ...(required !== undefined && { required }),
    ...(roles && { roles }),
    ...(excludeRequester !== undefined && { excludesRequester: excludeRequester }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  };
}

/** Finds a tool's entry in the allowlist. */
export function entryOf(policy: ToolPolicy, toolId: string): AllowedTool | undefined {
  return policy.allowedTools.find(({ id }) => id === toolId);
}

function allowsVersion({ versions, canary }: AllowedTool, version: string): boolean {
  return versions === undefined || versions.includes(version) || canary?.version === version;
}

/** Restricts a policy to the tools a request names; it never widens it. */
export function narrowPolicy(
  policy: ToolPolicy,
  toolIds: readonly string[] | undefined,
): ToolPolicy {
  if (toolIds === undefined) return policy;
  return {
    ...policy,
    allowedTools: policy.allowedTools.filter(({ id }) => toolIds.includes(id)),
  };
}

/** Reads the limits of a policy section; critical mutations are none unless it says otherwise. */
export function limitsOf(
  section: ToolPolicy["budgets"] | ToolPolicy["tenantBudgets"],
): BudgetAmounts {
  const { maxReads, maxWrites, maxExternal, maxCritical, maxFinancial, maxCost, maxTokens } =
    section;
  return {
    ...(maxReads !== undefined && { reads: maxReads }),
    ...(maxWrites !== undefined && { writes: maxWrites }),
    ...(maxExternal !== undefined && { external: maxExternal }),
    critical: maxCritical ?? IMPLIED_LIMITS.maxCritical,
    ...(maxFinancial !== undefined && { financial: toMillionths(maxFinancial) }),
    ...(maxCost !== undefined && { cost: toMillionths(maxCost) }),
    ...(maxTokens !== undefined && { tokens: maxTokens }),
  };
}
