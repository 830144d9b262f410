import type { ApprovalDecision } from "../../protocol/approval/decision.ts";
import { readApprovalId } from "../../protocol/approval/id.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { EventPosition } from "../../protocol/run/event-id.ts";
import { decide, refuseDecision } from "../approvals/approvals.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { followRun } from "../runs/runs.ts";

/** The decision of a person, as a client posts it. Whether it counts is for the run to say. */
export interface PostedDecision extends ApprovalDecision {
  readonly approvalId: string;
}

/** Decisions about the calls of one run. */
export interface PostedDecisions {
  /** As the client named it. */
  readonly runId: string;
  readonly decisions: readonly PostedDecision[];
  /** Where the stream ended that the client has read. */
  readonly after: EventPosition | undefined;
}

/**
 * Records decisions, and answers with what the run does then. A decision that came too late changes
 * nothing: the stream says what counted.
 */
export async function answerDecisions(
  authorised: AuthorisedRequest,
  { after, ...posted }: PostedDecisions,
  wire: ClientWire,
): Promise<Response> {
  if (!after) return problem("nothing_to_decide");
  const runId = await recordDecisions(authorised, posted);
  return runId.ok ? followRun(authorised, { runId: runId.value, wire, after }) : runId.failure;
}

/**
 * Records decisions, and answers their run. Fails: the response to send.
 * Threat: a page shows the call of one run, and posts the approval of another.
 */
export async function recordDecisions(
  authorised: AuthorisedRequest,
  { runId: named, decisions }: Omit<PostedDecisions, "after">,
): Promise<Result<RunId, Response>> {
  const { principal, services } = authorised;
  if (decisions.length === 0) return fail(problem("nothing_to_decide"));
  if (!principal.scopes.includes("approvals:decide")) {
    const detail = "Use a token with scope approvals:decide.";
    return fail(problem("insufficient_scope", { detail }));
  }
  const runId = await services.runIds.verifyFor(named, viewerOf(principal));
  if (!runId) return fail(problem("run_not_found"));
  const isOther = ({ approvalId }: PostedDecision): boolean =>
    readApprovalId(approvalId)?.runId !== runId;
  if (decisions.some(isOther)) return fail(problem("approval_not_found"));
  for (const { approvalId, ...decision } of decisions) {
    const answer = await decide(authorised, approvalId, decision);
    if (answer.kind !== "decided" && answer.kind !== "closed") return fail(refuseDecision(answer));
  }
  return ok(runId);
}
