import * as v from "valibot";
import type { ApprovalAnswer, DecisionAnswer } from "../../capabilities/run.ts";
import type { ApprovalDecision } from "../../protocol/approval/decision.ts";
import { readApprovalId } from "../../protocol/approval/id.ts";
import { isSamePerson } from "../../protocol/approval/check-vote.ts";
import { CONSENT_REACHES, type LastingWish } from "../../protocol/consent/lasting.ts";
import { isWellFormed } from "../../protocol/json/guard.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { timestamp } from "../../protocol/policy/fields.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";
import { refuseRun } from "../runs/refuse-run.ts";

/** Shows and decides approvals. The first address that matches takes the request. */
export const APPROVAL_ROUTES: Routes = {
  "/v1/approvals/decisions": { POST: { scope: "approvals:decide", handle: postDecisions } },
  "/v1/approvals/:id": { GET: { scope: "approvals:read", handle: getApproval } },
  "/v1/approvals/:id/decisions": { POST: { scope: "approvals:decide", handle: postDecision } },
};

/** `GET /v1/approvals/:id`: shows one approval as an approver sees it. */
async function getApproval(authorised: AuthorisedRequest): Promise<Response> {
  const answer = await ask(authorised, authorised.id);
  if (answer.kind !== "approval") return refuseApproval(answer);
  const { approval, mayNot, lasting } = answer;
  const may = mayNot ? { mayDecide: false, mayNot } : { mayDecide: true };
  const { actorId } = authorised.principal;
  const ownVote = approval.votes.find((vote) => isSamePerson(vote.approverId, actorId))?.decision;
  const said = ownVote && { said: ownVote };
  return Response.json({ ...approval, ...may, ...said, ...(lasting && { lasting }) });
}

/** Longest reason, in UTF-16 code units. */
const MAX_REASON_CHARS = 1_000;
/** Approvals that one request may decide. */
const MAX_BULK = 50;

/** Why a person votes as they do. */
export const voteReason = v.optional(
  v.pipe(
    v.string(),
    v.maxLength(MAX_REASON_CHARS),
    v.check((text) => text.isWellFormed(), "text without half characters"),
  ),
);
/** The fields of an answer to a question; the run checks them. */
export const answerFields = v.pipe(
  v.custom<JsonObject>(isJsonObject, "a JSON object"),
  v.check((value) => isWellFormed(value), "text without half characters"),
);
/** Other arguments that a person gives a call. */
export const editedArguments = v.optional(answerFields);
/** Lets the consent of the person last, as far as policy offers it. */
export const lastingWish = v.pipe(
  v.strictObject({
    within: v.optional(v.picklist(CONSENT_REACHES)),
    calls: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
    until: v.optional(timestamp),
    sameArguments: v.optional(v.literal(true)),
  }),
  v.transform(({ until, ...wish }): LastingWish => {
    return { ...wish, ...(until !== undefined && { untilMs: Date.parse(until) }) };
  }),
);
const voteFields = { decision: v.picklist(["approve", "reject"]), reason: voteReason };
/** Reads the decision of one person about one approval. */
export const decisionBody = v.pipe(
  v.strictObject({
    decision: v.picklist(["approve", "answer", "reject"]),
    reason: voteReason,
    arguments: editedArguments,
    answer: v.optional(answerFields),
    lasting: v.optional(lastingWish),
  }),
  v.forward(
    v.check(
      ({ decision, arguments: edited, lasting }) =>
        lasting === undefined || (decision === "approve" && edited === undefined),
      "lasting only with the decision approve, and without arguments",
    ),
    ["lasting"],
  ),
  v.forward(
    v.check(
      (body) => (body.decision === "answer") === (body.answer !== undefined),
      "an answer exactly with the decision answer",
    ),
    ["answer"],
  ),
  v.forward(
    v.check(
      (body) => body.decision === "approve" || body.arguments === undefined,
      "arguments only with the decision approve",
    ),
    ["arguments"],
  ),
);
export const bulkBody = v.strictObject({
  decisions: v.pipe(
    v.array(v.strictObject({ approvalId: v.string(), ...voteFields })),
    v.minLength(1),
    v.maxLength(MAX_BULK),
  ),
});

/** `POST /v1/approvals/:id/decisions`: records the decision of one person. */
async function postDecision(authorised: AuthorisedRequest): Promise<Response> {
  const body = await readJson(authorised.request, decisionBody);
  if (!body.ok) return body.failure;
  const answer = await decide(authorised, authorised.id, body.value as ApprovalDecision);
  return answer.kind === "decided" ? Response.json(answer.approval) : refuseDecision(answer);
}

/** Answers a decision that was not recorded. */
export function refuseDecision(answer: Exclude<DecisionAnswer, { kind: "decided" }>): Response {
  switch (answer.kind) {
    case "closed":
      return problem("approval_closed", { approval: answer.approval });
    case "not_allowed":
      return problem("approver_not_allowed", { reason: answer.why });
    case "arguments_refused":
      return problem("arguments_refused", {
        detail: answer.isByPolicy ? BY_POLICY : BY_TOOL,
        errors: answer.errors.map(toError),
      });
    case "policy_unavailable":
    case "tools_unavailable":
      return problem(answer.kind, { detail: NOT_STORED, headers: { "retry-after": "5" } });
    case "unknown_approval":
    case "unknown":
    case "gone":
      return refuseApproval(answer);
  }
}

const NOT_STORED = "The vote was not stored. Send it again.";

/** `POST /v1/approvals/decisions`: records decisions of one person on many approvals. */
async function postDecisions(authorised: AuthorisedRequest): Promise<Response> {
  const body = await readJson(authorised.request, bulkBody);
  if (!body.ok) return body.failure;
  const results = [];
  // One after the other, so that fifty decisions do not wake fifty objects at once.
  for (const { approvalId, ...vote } of body.value.decisions) {
    const answer = await decide(authorised, approvalId, {
      ...(vote as ApprovalDecision),
      isBulk: true,
    });
    results.push({ approvalId, ...resultOf(answer) });
  }
  return Response.json({ results });
}

function resultOf(answer: DecisionAnswer): { readonly status?: string; readonly code?: string } {
  switch (answer.kind) {
    case "decided":
      return { status: answer.approval.status };
    case "closed":
      return { status: answer.approval.status, code: "approval_closed" };
    case "not_allowed":
      return { code: answer.why };
    case "arguments_refused":
    case "policy_unavailable":
    case "tools_unavailable":
      return { code: answer.kind };
    case "unknown_approval":
    case "unknown":
    case "gone":
      return { code: "approval_not_found" };
  }
}

const BY_POLICY = "The policy refuses these arguments. Change what the errors name.";
const BY_TOOL = "The tool does not accept these arguments. Change what the errors name.";

function toError({ field, message }: { readonly field: string | null; readonly message: string }) {
  return { pointer: field ?? "", message };
}

const UNKNOWN = { kind: "unknown_approval" } as const;

async function ask(authorised: AuthorisedRequest, approvalId: string): Promise<ApprovalAnswer> {
  const { principal, services } = authorised;
  const name = readApprovalId(approvalId);
  const runId = name && (await services.runIds.verify(name.runId, principal.tenantId));
  return runId ? services.runs.of(runId).approval({ ...name, principal }) : UNKNOWN;
}

/** Records the decision of a person. */
export async function decide(
  { principal, services }: AuthorisedRequest,
  approvalId: string,
  decision: ApprovalDecision,
): Promise<DecisionAnswer> {
  const name = readApprovalId(approvalId);
  const runId = name && (await services.runIds.verify(name.runId, principal.tenantId));
  return runId ? services.runs.of(runId).decide({ ...name, principal }, decision) : UNKNOWN;
}

/** An expired run has no approvals. An unknown run gets the same answer as an unknown approval. */
function refuseApproval(answer: {
  readonly kind: "unknown_approval" | "unknown" | "gone";
}): Response {
  return answer.kind === "gone" ? refuseRun({ kind: "gone" }) : problem("approval_not_found");
}
