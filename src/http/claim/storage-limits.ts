import { personOf } from "../../protocol/identity/principal.ts";
import {
  IMPLIED_LIMITS,
  storageLimitsOf,
  type StorageLimits,
} from "../../protocol/policy/limits.ts";
import { lowerBudgets } from "../../protocol/policy/narrow.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";

/** Shortest time over which the tenant's object counts. */
const HOUR_MS = 3_600_000;

/**
 * Checks what the tenant and the caller stored so far; answers the longest conversation that a new
 * run may copy. Unit: bytes. An unknown figure refuses nobody: the limit of each run still holds.
 * Fails: 429 until the window ends.
 */
export async function checkStorage({
  principal,
  services,
}: AuthorisedRequest): Promise<Result<{ readonly maxHistoryBytes: number }, Response>> {
  const { tenantId } = principal;
  const { policy } = await services.policies.load(tenantId);
  const limits = storageLimitsOf(policy.tenantBudgets);
  const { windowSeconds } = limits;
  const query = { person: personOf(principal), windowSeconds };
  const use = await services.storage.read(tenantId, query);
  if (use && (use.actorBytes >= limits.actorBytes || use.tenantBytes >= limits.tenantBytes)) {
    return fail(refuse(limits, services.clock.nowMs()));
  }
  const { budgets } = lowerBudgets(policy, principal.embed?.budgets);
  return ok({ maxHistoryBytes: budgets.maxHistoryBytes ?? IMPLIED_LIMITS.maxHistoryBytes });
}

/** Counts what a run stores that is about to start. */
export function countNewRun(
  { principal, services }: AuthorisedRequest,
  { messages, files = {} }: Pick<RunClaim, "messages" | "files">,
): void {
  const bytes = JSON.stringify(messages).length + Object.values(files).join("").length;
  services.storage.add(principal.tenantId, personOf(principal), bytes);
}

function refuse({ windowSeconds }: StorageLimits, nowMs: number): Response {
  const lengthMs = Math.max(windowSeconds * 1_000, HOUR_MS);
  const seconds = Math.ceil((lengthMs - (nowMs % lengthMs)) / 1_000);
  return problem("storage_exhausted", { headers: { "retry-after": `${seconds}` } });
}
