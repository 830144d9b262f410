import * as v from "valibot";
import type { ApprovalAnswer, Decision, DecisionAnswer } from "../capabilities/run.ts";
import { readApprovalId } from "../protocol/approval/id.ts";
import { isSamePerson } from "../protocol/approval/vote.ts";
import { isJsonObject } from "../protocol/json/value.ts";
import type { AuthorisedRequest, Routes } from "./authorise.ts";
import { problem } from "./problem.ts";
import { readJson } from "./read-json.ts";
import { refuseRun } from "./runs.ts";

/** Shows and decides approvals. The first address that matches takes the request. */
export const APPROVAL_ROUTES: Routes = {
  "/v1/approvals/decisions": { POST: { scope: "approvals:decide", handle: postDecisions } },
  "/v1/approvals/:id": { GET: { scope: "approvals:read", handle: getApproval } },
  "/v1/approvals/:id/decisions": { POST: { scope: "approvals:decide", handle: postDecision } },
};

/** `GET /v1/approvals/:id`: the question, as whoever decides it is to see it. */
async function getApproval(authorised: AuthorisedRequest): Promise<Response> {
  const answer = await ask(authorised, authorised.id);
  if (answer.kind !== "approval") return refuseApproval(answer);
  const { approval, mayNot } = answer;
  const may = mayNot ? { mayDecide: false, mayNot } : { mayDecide: true };
  const { actorId } = authorised.principal;
  const said = approval.votes.find((vote) => isSamePerson(vote.approverId, actorId))?.decision;
  return Response.json({ ...approval, ...may, ...(said && { said }) });
}

/** Longest reason, in UTF-16 code units. */
const MAX_REASON_CHARS = 1_000;
/** Questions that one request may decide. */
const MAX_BULK = 50;

const word = {
  decision: v.picklist(["approve", "reject"]),
  reason: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(MAX_REASON_CHARS),
      v.check((text) => text.isWellFormed(), "whole characters"),
    ),
  ),
};
const decisionBody = v.pipe(
  v.strictObject({ ...word, arguments: v.optional(v.custom(isJsonObject, "a JSON object")) }),
  v.forward(
    v.check((body) => body.decision === "approve" || body.arguments === undefined, "no arguments"),
    ["arguments"],
  ),
);
const bulkBody = v.strictObject({
  decisions: v.pipe(
    v.array(v.strictObject({ approvalId: v.string(), ...word })),
    v.minLength(1),
    v.maxLength(MAX_BULK),
  ),
});

/** `POST /v1/approvals/:id/decisions`: takes a person's word. */
async function postDecision(authorised: AuthorisedRequest): Promise<Response> {
  const body = await readJson(authorised.request, decisionBody);
  if (!body.ok) return body.failure;
  const answer = await decide(authorised, authorised.id, body.value as Decision);
  switch (answer.kind) {
    case "decided":
      return Response.json(answer.approval);
    case "closed":
      return problem("approval_closed", { approval: answer.approval });
    case "not_allowed":
      return problem("approver_not_allowed", { reason: answer.why });
    case "arguments_refused":
      return problem("arguments_refused", { errors: answer.errors.map(toError) });
    case "unknown_approval":
    case "unknown":
    case "gone":
      return refuseApproval(answer);
  }
}

/** `POST /v1/approvals/decisions`: takes one person's word on many questions that may wait. */
async function postDecisions(authorised: AuthorisedRequest): Promise<Response> {
  const body = await readJson(authorised.request, bulkBody);
  if (!body.ok) return body.failure;
  const results = [];
  // One after the other: a person's fifty words are no flood.
  for (const { approvalId, ...said } of body.value.decisions) {
    const answer = await decide(authorised, approvalId, { ...(said as Decision), isBulk: true });
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
      return { code: answer.kind };
    case "unknown_approval":
    case "unknown":
    case "gone":
      return { code: "approval_not_found" };
  }
}

function toError({ field, message }: { readonly field: string | null; readonly message: string }) {
  return { pointer: field ?? "", message };
}

const UNKNOWN = { kind: "unknown_approval" } as const;

async function ask(authorised: AuthorisedRequest, approvalId: string): Promise<ApprovalAnswer> {
  const { principal, services } = authorised;
  const name = readApprovalId(approvalId);
  const runId = name && (await services.runIds.verify(name.runId, principal.tenantId));
  return runId ? services.runs.approval(runId, { ...name, principal }) : UNKNOWN;
}

async function decide(
  { principal, services }: AuthorisedRequest,
  approvalId: string,
  decision: Decision,
): Promise<DecisionAnswer> {
  const name = readApprovalId(approvalId);
  const runId = name && (await services.runIds.verify(name.runId, principal.tenantId));
  return runId ? services.runs.decide(runId, { ...name, principal }, decision) : UNKNOWN;
}

/** A run that is gone has no questions; one that never was answers like a question that never was. */
function refuseApproval(answer: {
  readonly kind: "unknown_approval" | "unknown" | "gone";
}): Response {
  return answer.kind === "gone" ? refuseRun({ kind: "gone" }) : problem("approval_not_found");
}
