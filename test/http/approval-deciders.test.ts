import { describe, expect, test } from "vitest";
import { moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  decide,
  ended,
  REJECT,
  viewOf,
  useApprovalLab,
} from "../shared/people.ts";
import { cancel } from "../shared/run-object.ts";
import { send } from "../shared/worker.ts";

useApprovalLab();

describe("who may decide", () => {
  test.each([
    ["ann", 403, "own_request"],
    ["aide", 404, undefined],
    ["chief", 403, "role_missing"],
    ["bot", 404, undefined],
    ["dan", 404, undefined],
    ["outsider", 404, undefined],
  ] as const)("dual control does not take %s's approval: %i %s", async (caller, status, reason) => {
    const { runId, approvalId } = await askToPay();
    const answer = await decide(approvalId, caller, APPROVE);
    expect(answer.status).toBe(status);
    expect((await answer.json<{ reason?: string }>()).reason).toBe(reason);
    expect(await viewOf(approvalId, "bob")).toMatchObject({ approvals: 0 });
    await cancel(runId, "ann");
    expect(moved).toEqual([]);
  });

  test("the requester may always reject their own request", async () => {
    const { runId, approvalId } = await askToPay();
    expect((await decide(approvalId, "ann", REJECT)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual([]);
  });

  test("an approver who lost the role withdraws an earlier vote, and cannot vote anew", async () => {
    const { runId, approvalId } = await askToPay();
    expect((await decide(approvalId, "cat", APPROVE)).status).toBe(200);
    const repeated = await decide(approvalId, "formerCat", APPROVE);
    expect(await repeated.json()).toMatchObject({ status: "pending", approvals: 1 });
    const withdrawn = await decide(approvalId, "formerCat", REJECT);
    expect([withdrawn.status, await withdrawn.json()]).toMatchObject([200, { status: "rejected" }]);
    await ended(runId);
    const other = await askToPay();
    expect((await decide(other.approvalId, "formerCat", REJECT)).status).toBe(404);
    await cancel(other.runId, "ann");
    expect(moved).toEqual([]);
  });

  test("a person with every role cannot approve their own request", async () => {
    const { runId, approvalId } = await askToPay({}, "eve");
    expect((await decide(approvalId, "eve", APPROVE)).status).toBe(403);
    expect((await decide(approvalId, "bob", APPROVE)).status).toBe(200);
    expect((await decide(approvalId, "cat", APPROVE)).status).toBe(200);
    await ended(runId, "eve");
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("an id in other letter case is the same person", async () => {
    const { runId, approvalId } = await askToPay({}, "eve");
    expect((await decide(approvalId, "EVE", APPROVE)).status).toBe(404);
    for (const who of ["bob", "BOB", "bob"] as const) {
      const answer = await decide(approvalId, who, APPROVE);
      const votes = [{ approverId: "user:bob" }];
      expect(await answer.json()).toMatchObject({ status: "pending", approvals: 1, votes });
    }
    expect(await viewOf(approvalId, "BOB")).toHaveProperty("said", "approve");
    await cancel(runId, "eve");
    expect(moved).toEqual([]);
  });

  test("only the person themself can give consent", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "hello" })]);
    expect((await decide(approvalId, "eve", APPROVE)).status).toBe(404);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual(["notified: hello"]);
  });

  test("a call on a person's account needs that person's consent, not the program's", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "hi" })], "aide");
    expect((await decide(approvalId, "aide", APPROVE)).status).toBe(403);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await ended(runId, "aide");
    expect(moved).toEqual(["notified: hi"]);
  });

  test("compliance gives a reason, or does not approve", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__publish", { what: "report" })]);
    const { packet, lines } = await viewOf(approvalId, "dan");
    expect(packet).toMatchObject({ owner: "lab", dataClass: "internal" });
    const said = Object.fromEntries(lines.map(({ label, text }) => [label, text]));
    expect(said).toMatchObject({ "Owner of the tool": "lab", "Data class": "internal" });
    const without = await decide(approvalId, "dan", APPROVE);
    expect(await without.json()).toMatchObject({ status: 403, reason: "reason_missing" });
    const blank = await decide(approvalId, "dan", { ...APPROVE, reason: "  " });
    expect(blank.status).toBe(403);
    const reasoned = await decide(approvalId, "dan", { ...APPROVE, reason: "public data" });
    expect(await reasoned.json()).toMatchObject({ votes: [{ reason: "public data" }] });
    await ended(runId);
    expect(moved).toEqual(["published: report"]);
  });

  test("a read may need approval too, and its approval is as durable", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__peek", { what: "file" })]);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(403);
    expect((await decide(approvalId, "bob", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual(["peeked: file"]);
  });
});

describe("many at a time", () => {
  test("approvals of the asynchronous queue are decided in bulk, each with its own result", async () => {
    const first = await askFor([callOf("lab__archive", { what: "a" })]);
    const second = await askFor([callOf("lab__archive", { what: "b" })]);
    const other = await askToPay();
    const answer = await send("/v1/approvals/decisions", {
      caller: "bob",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        decisions: [
          { approvalId: first.approvalId, ...APPROVE },
          { approvalId: second.approvalId, ...REJECT, reason: "keep it" },
          { approvalId: other.approvalId, ...APPROVE },
          { approvalId: "appr_made_up", ...APPROVE },
        ],
      }),
    });
    expect(await answer.json()).toEqual({
      results: [
        { approvalId: first.approvalId, status: "approved" },
        { approvalId: second.approvalId, status: "rejected" },
        { approvalId: other.approvalId, code: "not_bulk" },
        { approvalId: "appr_made_up", code: "approval_not_found" },
      ],
    });
    await ended(first.runId);
    await ended(second.runId);
    expect(moved).toEqual(["archived: a"]);
    await cancel(other.runId, "ann");
  });
});
