import * as v from "valibot";
import type { AnyToolContract } from "../../contracts/define/definition.ts";
import { findWeakApprovals, matchPolicy } from "../../contracts/policy/match-policy.ts";
import type { PolicyMismatch } from "../../contracts/policy/mismatch.ts";
import { registerContracts } from "../../contracts/check/register.ts";
import { warnAbout } from "../../contracts/policy/warn-policy.ts";
import { toolPolicyDocument, type ToolPolicy } from "../../protocol/policy/document.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { fillNode20 } from "../fill-node-20.ts";

/** More calls and money than a test uses. */
const PLENTY = { maxCritical: 1_000_000 };

/**
 * Reads a policy document, as `PUT /v1/policy` does.
 * Fails: throws with each place that is wrong.
 */
export function readPolicy(document: unknown): ToolPolicy {
  const parsed = v.safeParse(toolPolicyDocument, document);
  if (parsed.success) return parsed.output;
  const lines = parsed.issues.map(
    (issue) => `${v.getDotPath(issue) ?? "policy"}: ${issue.message}`,
  );
  throw new Error(`The policy is not valid. ${lines.join("; ")}`);
}

/** Of a test that names no policy. */
interface TestRights {
  readonly principal: Principal;
  readonly connectionIds: readonly string[];
  readonly workspaceIds: readonly string[];
}

/**
 * Builds the policy of a test that names none: it allows every tool, gives each tool every
 * connection, and makes the caller a member of every workspace. It asks for no approval; a contract
 * may still do so.
 */
export function allowAll(
  tools: readonly AnyToolContract[],
  { principal, connectionIds, workspaceIds }: TestRights,
): ToolPolicy {
  const allowed = [...new Set(tools.map(({ name }) => name))];
  const { actorId, subjectId } = principal;
  const actors = subjectId === undefined ? [actorId] : [actorId, subjectId];
  return readPolicy({
    allowedTools: allowed,
    currency: tools[0]?.runtime.cost.currency ?? "USD",
    budgets: PLENTY,
    tenantBudgets: PLENTY,
    workspaces: Object.fromEntries(workspaceIds.map((id) => [id, { actors }])),
    grants: connectionIds.map((connectionId) => ({ connectionId, tools: allowed })),
  });
}

/**
 * Lists what `PUT /v1/policy` would refuse or warn about: names of no tool, version or field,
 * approvals that are too weak, and terms that no call can meet.
 * Fails: throws for a document that is no policy.
 */
export function checkPolicy(
  document: unknown,
  tools: readonly AnyToolContract[],
): readonly PolicyMismatch[] {
  fillNode20();
  const policy = readPolicy(document);
  const contracts = registerContracts(tools);
  const specs = contracts.map(({ spec }) => spec);
  return [
    ...matchPolicy(policy, specs),
    ...findWeakApprovals(policy, specs),
    ...warnAbout(policy, contracts),
  ];
}
