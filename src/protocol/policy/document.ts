import * as v from "valibot";
import { connectionId } from "../connection/stored.ts";
import { isWebOrigin, webOrigin } from "../identity/web-origin.ts";
import { recordOf } from "../json/record.ts";
import { lazily } from "../text/lazily.ts";
import { SIDE_EFFECT_CLASSES, TOOL_EFFECTS } from "../tool/effect.ts";
import { workspaceId } from "../workspace/address.ts";
import { approvalRule, roleLimits } from "./approval-rule.ts";
import { argumentRule } from "./argument-rule.ts";
import { budgetRaises } from "./budget-raise.ts";
import { callerRule } from "./caller-rule.ts";
import { costCap } from "./cost-cap.ts";
import { dataRules, regionRules } from "./data-rule.ts";
import { dataFlowRules } from "./data-flow.ts";
import { actor, listOf, name, positive, timestamp, windowSeconds } from "./fields.ts";
import { runLimits, tenantLimits } from "./limits.ts";

/** Longest address of a page, in UTF-16 code units. */
const MAX_ADDRESS_CHARS = 2_048;

const allowedTool = v.strictObject({
  id: name,
  /** Versions that may run, the preferred one first. Absent: the newest active version. */
  versions: v.optional(v.pipe(v.array(name), v.minLength(1), v.maxLength(16))),
  /** Routes a share of runs to another version. A run never changes its version. */
  canary: v.optional(
    v.strictObject({
      version: name,
      percent: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
    }),
  ),
  /** Scopes that the caller needs in addition to those of the contract. */
  scopes: v.optional(listOf(name), []),
  /** Limit for the whole tenant. The contract's own limit holds for each run. */
  rateLimit: v.optional(v.strictObject({ windowSeconds, maxRequests: positive })),
});

/** Who may use which stored connection for which tool. */
const grant = v.strictObject({
  connectionId: name,
  tools: listOf(name),
  /** Absent: every actor of the tenant. */
  actors: v.optional(listOf(actor)),
  expiresAt: v.optional(timestamp),
});

/** Who may act for whom, with which tools. */
const delegation = v.strictObject({ actorId: actor, subjectId: actor, tools: listOf(name) });

/** A service that may mint embed tokens, and for whom. */
const embedMinter = v.strictObject({
  actorId: v.pipe(actor, v.regex(/^service:/, "the id of a service: service:…")),
  /** Absent: every person of the tenant. */
  people: v.optional(listOf(actor)),
  /** The roles that it may give to them. */
  roles: v.optional(listOf(name), []),
});

/** Where people are told what waits for them. See docs/notifications.md. */
const notifications = v.strictObject({
  /** A stored connection of the kind `webhook`. */
  connection: connectionId,
  /** The page where people decide; messages link to it. */
  page: v.pipe(
    v.string(),
    v.maxLength(MAX_ADDRESS_CHARS),
    v.check((text) => isPage(text), "an https address without a fragment"),
  ),
});

function isPage(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isWebOrigin(url.origin) && url.username === "" && !text.includes("#");
}

/** Who is a member of a workspace: actors by id, and everybody with one of the roles. */
const members = v.strictObject({
  actors: v.optional(listOf(actor), []),
  roles: v.optional(listOf(name), []),
});

/** Accepts a policy document: what `PUT /v1/policy` takes. */
export const toolPolicyDocument = v.strictObject({
  /** Tools that may run. Every other tool is denied. An entry that is a text names a tool's id. */
  allowedTools: listOf(
    v.pipe(
      v.unknown(),
      v.transform((entry) => (typeof entry === "string" ? { id: entry } : entry)),
      allowedTool,
    ),
  ),
  /** Who may call which tools. Absent: every caller of the tenant may call every allowed tool. */
  callers: v.optional(listOf(callerRule), []),
  /** Where the data of each class may go. Absent: a class may go anywhere. */
  dataClasses: v.optional(dataRules, {}),
  /** Which models and services lie in which region, for `dataClasses`. */
  regions: v.optional(regionRules, {}),
  /** Effects that need an approval. */
  requireApprovalForEffects: v.optional(listOf(v.picklist(TOOL_EFFECTS)), []),
  /** Side-effect classes that need an approval. */
  requireApprovalForClasses: v.optional(listOf(v.picklist(SIDE_EFFECT_CLASSES)), []),
  /** All rules that name a call count; see rulesFor. */
  approvals: v.optional(listOf(approvalRule), []),
  /** How much money a call may move that a caller with one of these roles asks for. */
  callerLimits: v.optional(roleLimits),
  argumentRules: v.optional(listOf(argumentRule), []),
  /** Where the content of calls may come from. See docs/untrusted-output.md. */
  dataFlow: v.optional(dataFlowRules, {}),
  grants: v.optional(listOf(grant), []),
  delegations: v.optional(listOf(delegation), []),
  embedMinters: v.optional(listOf(embedMinter), []),
  /** The workspaces of the tenant and their members. See docs/business-data.md. */
  workspaces: v.optional(recordOf(workspaceId, members), {}),
  /** Origins of pages that may call the API. See docs/identity.md. */
  origins: v.optional(v.pipe(v.array(webOrigin), v.maxLength(64)), []),
  /** Absent: nobody is told; the lists show what waits. */
  notifications: v.optional(notifications),
  /** ISO 4217. Calls that move or cost money in another currency are denied. */
  currency: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, "three capital letters, ISO 4217")),
    "USD",
  ),
  budgets: v.optional(runLimits, {}),
  /** Who may raise limits of `budgets` for one run, and how far. Absent: nobody. */
  budgetRaises: v.optional(budgetRaises),
  tenantBudgets: v.optional(tenantLimits, {}),
  /** What calls of some tools may cost together. */
  costCaps: v.optional(listOf(costCap), []),
});

/** The tenant's policy, as data (seeds/000 #19). */
export type ToolPolicy = v.InferOutput<typeof toolPolicyDocument>;

/** One entry of the allowlist. */
export type AllowedTool = ToolPolicy["allowedTools"][number];

/** The policy of a tenant without a readable one: it allows nothing (seeds/000 #20). */
export const denyAll: () => ToolPolicy = lazily(() =>
  v.parse(toolPolicyDocument, { allowedTools: [] }),
);

/** Reads a policy document; undefined when the value is not exactly one. Contract: never throws. */
export function parseToolPolicy(document: unknown): ToolPolicy | undefined {
  const parsed = v.safeParse(toolPolicyDocument, document);
  return parsed.success ? parsed.output : undefined;
}
