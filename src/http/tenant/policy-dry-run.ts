import * as v from "valibot";
import { specsOf } from "../../contracts/catalog/registered.ts";
import { findWeakApprovals, matchPolicy } from "../../contracts/policy/match-policy.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { ListPosition } from "../../protocol/list/page.ts";
import { toPointer } from "../../protocol/json/pointer.ts";
import { toolPolicyDocument, type ToolPolicy } from "../../protocol/policy/document.ts";
import type { DryRunCall, DryRunOfRun } from "../../protocol/policy/dry-run.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";

/** Tells what another policy would have decided. */
export const DRY_RUN_ROUTES: Routes = {
  "/v1/policy/dry-run": {
    POST: { scope: "policy:write", refusesEmbedTokens: true, handle: postDryRun },
  },
};

/** Runs that one request reads at most, and how many of them at the same time. */
const MAX_RUNS = 100;
const AT_ONCE = 10;
const MAX_CALLS = 100;
/** Mismatches that one response names. */
const MAX_ERRORS = 20;

export const body = v.strictObject({
  policy: toolPolicyDocument,
  /** How many of the newest calls are decided again. */
  calls: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_CALLS)),
    MAX_CALLS,
  ),
});

/** What another policy would have decided about the newest calls of a tenant. */
export interface DryRunAnswer {
  /** Runs that were read, the newest ones. */
  readonly runs: number;
  /** Calls that were decided again. */
  readonly calls: number;
  /** Calls that no policy can decide again. */
  readonly undecided: number;
  /** The calls whose decision changes, the newest first. */
  readonly changed: readonly DryRunCall[];
}

/**
 * `POST /v1/policy/dry-run`: what the policy of the body would have decided about the last calls of
 * the tenant. Stores nothing, and no tool runs.
 */
async function postDryRun(authorised: AuthorisedRequest): Promise<Response> {
  const read = await readJson(authorised.request, body);
  if (!read.ok) return read.failure;
  const { policy, calls: wanted } = read.value;
  const specs = specsOf(await authorised.contracts());
  const errors = matchPolicy(policy, specs).slice(0, MAX_ERRORS);
  if (errors.length > 0) return problem("invalid_request", { errors: errors.map(inPolicy) });
  const weak = findWeakApprovals(policy, specs).slice(0, MAX_ERRORS);
  if (weak.length > 0) return problem("approval_too_weak", { errors: weak.map(inPolicy) });
  return Response.json(await decideNewest(authorised, policy, wanted));
}

/** The document is a member of the body. */
function inPolicy<E extends { readonly pointer: string }>(error: E): E {
  return { ...error, pointer: toPointer(["policy"]) + error.pointer };
}

/** Reads runs from the newest on, until there are enough calls. */
async function decideNewest(
  authorised: AuthorisedRequest,
  policy: ToolPolicy,
  wanted: number,
): Promise<DryRunAnswer> {
  const { principal, services } = authorised;
  let after: ListPosition | undefined;
  let [runs, undecided] = [0, 0];
  const decided: DryRunCall[] = [];
  while (runs < MAX_RUNS && decided.length < wanted) {
    const page = await services.directory.list(principal.tenantId, {
      limit: AT_ONCE,
      ...(after && { after }),
    });
    const answers = await Promise.all(
      page.items.map(({ runId }) => decideRun(authorised, runId, policy)),
    );
    runs += page.items.length;
    for (const { calls, undecided: left } of answers) {
      decided.push(...calls.toReversed());
      undecided += left;
    }
    after = page.next;
    if (!after) break;
  }
  const newest = decided.slice(0, wanted);
  const changed = newest.filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
  return { runs, calls: newest.length, undecided, changed };
}

const NOTHING: DryRunOfRun = { calls: [], undecided: 0 };

/** A run whose records are deleted, or whose policy cannot be read, has no calls to decide. */
async function decideRun(
  { principal, services }: AuthorisedRequest,
  runId: RunId,
  policy: ToolPolicy,
): Promise<DryRunOfRun> {
  const answer = await services.runs.of(runId).replay(viewerOf(principal), policy);
  return answer.kind === "dry_run" ? answer.result : NOTHING;
}
