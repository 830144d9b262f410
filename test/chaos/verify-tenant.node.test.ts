import { expect, test } from "vitest";
import {
  findContradictions,
  type TenantEvidence,
} from "../../scripts/chaos/verify/verify-tenant.ts";
import type { AuditAction, AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { ApprovalId, RunId } from "../../src/protocol/identity/ids.ts";

const runId = "run_1" as RunId;
const approvalId = "appr_1" as ApprovalId;

function entry(action: AuditAction): AuditEntry {
  const isOfApproval = action.startsWith("approval.");
  return { action, at: "2026-01-01T00:00:00.000Z", runId, ...(isOfApproval && { approvalId }) };
}

const ACTIONS: readonly AuditAction[] = [
  "run.started",
  "approval.requested",
  "approval.closed",
  "approval.consumed",
  "run.ended",
];

interface Change {
  readonly actions?: readonly AuditAction[];
  readonly queue?: TenantEvidence["queue"];
}

function contradictions({ actions = ACTIONS, queue = [] }: Change): readonly string[] {
  return [...findContradictions({ runIds: [runId], entries: actions.map(entry), queue })];
}

test("finds nothing in the records of a run with an approval", () => {
  expect(contradictions({})).toEqual([]);
});

test("ignores a pending approval of a run that was not verified", () => {
  expect(contradictions({ queue: [{ runId: "run_2" }] })).toEqual([]);
});

test.each<[string, Change]>([
  ...ACTIONS.map((action): [string, Change] => [
    `a second ${action}`,
    { actions: [...ACTIONS, action] },
  ]),
  ...ACTIONS.filter((action) => action !== "approval.consumed").map((action): [string, Change] => [
    `a lost ${action}`,
    { actions: ACTIONS.filter((other) => other !== action) },
  ]),
  ["a pending approval of an ended run", { queue: [{ runId }] }],
])("finds %s", (_name, change) => {
  expect(contradictions(change)).not.toEqual([]);
});
