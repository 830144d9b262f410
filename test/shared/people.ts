import { beforeAll, beforeEach, expect } from "vitest";
import type { ApprovalView } from "../../src/protocol/approval/view.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { untilState } from "./run-object.ts";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { frozen, moved } from "../workers/lab-approvals.ts";
import { chat, putPolicy, runIdOf, seedPolicies, send, type Caller } from "./worker.ts";

/** Stores the policies before the tests of a file, and empties the approval lab before each. */
export function useApprovalLab(): void {
  beforeAll(seedPolicies);
  beforeEach(() => {
    moved.length = 0;
    frozen.clear();
  });
}

/** A run that waits for an approval. */
export interface Asked {
  readonly runId: string;
  readonly approvalId: string;
  readonly response: Response;
}

export type Call = NonNullable<ScriptedStep["calls"]>[number];

export function callOf(name: string, args: object, id = "call_1"): Call {
  return { id, name, args: JSON.stringify(args) };
}

/**
 * Starts a run in which the model makes calls, then says "done". Waits for the approval request.
 */
export async function askFor(calls: readonly Call[], caller: Caller = "ann"): Promise<Asked> {
  const response = await chat([{ calls }, { text: ["done"] }], caller);
  const runId = runIdOf(response);
  const state = await untilState(runId, { status: "waiting" }, caller);
  return { runId, approvalId: openOf(state)[0] ?? "none", response };
}

/** Starts a run in which the model makes calls that all end without people, then says "done". */
export async function askNobody(
  calls: readonly Call[],
  caller: Caller = "ann",
): Promise<RunState["toolCalls"]> {
  const response = await chat([{ calls }, { text: ["done"] }], caller);
  const { toolCalls } = await ended(runIdOf(response), caller);
  return toolCalls;
}

/** Starts a run that proposes one transfer. */
export function askToPay(args: object = {}, caller: Caller = "ann"): Promise<Asked> {
  return askFor([callOf("lab__transfer", { to: "bakery", amount: 40, ...args })], caller);
}

/** Returns the ids of the approvals that a run waits for. */
export function openOf({ toolCalls }: RunState): readonly string[] {
  return toolCalls.flatMap(({ approvalId }) => approvalId ?? []);
}

export function readApproval(approvalId: string, caller: Caller): Promise<Response> {
  return send(`/v1/approvals/${approvalId}`, { caller });
}

export async function viewOf(approvalId: string, caller: Caller): Promise<ApprovalView> {
  const response = await readApproval(approvalId, caller);
  expect(response.status).toBe(200);
  return response.json();
}

/** Sends a decision on an approval. */
export function decide(approvalId: string, caller: Caller, body: object): Promise<Response> {
  return send(`/v1/approvals/${approvalId}/decisions`, {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

export const APPROVE = { decision: "approve" };
export const REJECT = { decision: "reject" };

/** Waits until a run has ended. */
export function ended(runId: string, caller: Caller = "ann"): Promise<RunState> {
  return untilState(runId, { status: "completed" }, caller);
}

/** Replaces the policy of the guild. */
export async function changeGuildPolicy(document: object): Promise<void> {
  const current = await send("/v1/policy", { caller: "chief" });
  const etag = current.headers.get("etag") ?? "";
  const answer = await putPolicy(document, { caller: "chief", "if-match": etag });
  expect(answer.status).toBe(200);
}
