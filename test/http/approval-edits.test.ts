import { describe, expect, test } from "vitest";
import { moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  decide,
  ended,
  openOf,
  viewOf,
  useApprovalLab,
} from "../shared/people.ts";
import { cancel, crash, rowsOf, untilState } from "../shared/run-object.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

useApprovalLab();

describe("editing", () => {
  test("other arguments are another question: votes fall, the editor's counts for what they wrote", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    const edited = await decide(approvalId, "cat", {
      ...APPROVE,
      arguments: { to: "bakery", amount: 25 },
    });
    expect(await edited.json()).toMatchObject({ status: "superseded" });
    const state = await untilState(runId, { status: "waiting" }, "ann");
    const [next = ""] = openOf(state);
    expect(next).not.toBe(approvalId);
    expect(await viewOf(next, "bob")).toMatchObject({
      approvals: 1,
      votes: [{ approverId: "user:cat" }],
      packet: { arguments: { shown: { to: "bakery", amount: 25 } } },
    });
    const stale = await decide(approvalId, "eve", APPROVE);
    expect(await stale.json()).toMatchObject({
      code: "approval_closed",
      approval: { status: "superseded", supersededBy: next },
    });
    expect((await decide(next, "bob", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual(["25 to bakery"]);
  });

  test("one sufficient approver edits and approves in one request", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "helo" })]);
    await decide(approvalId, "ann", { ...APPROVE, arguments: { what: "hello" } });
    await ended(runId);
    expect(moved).toEqual(["notified: hello"]);
    const [row] = await rowsOf(runId, "SELECT ending FROM invocations");
    const ending = JSON.stringify(row).replaceAll("\\", "");
    expect(ending).toContain("a person changed the arguments of this call");
    expect(ending).toContain('It ran with {"what":"hello"}');
  });

  test.each([
    ["the wrong type", { to: "bakery", amount: "25" }, "/amount", "The tool"],
    ["what a rule of the contract forbids", { to: "me", amount: 25 }, "/to", "The tool"],
    ["what a rule of the policy forbids", { to: "casino", amount: 25 }, "/to", "The policy"],
    ["an unknown field", { to: "bakery", amount: 25, extra: 1 }, "", "The tool"],
    ["what they cannot see", { to: "bakery", amount: 25, pin: "9999" }, "/pin", "The tool"],
  ])("an edit with %s is refused to the editor and ends nothing", async (_, args, pointer, by) => {
    const { runId, approvalId } = await askToPay({ pin: "1234" });
    const answer = await decide(approvalId, "bob", { ...APPROVE, arguments: args });
    expect(await answer.json()).toMatchObject({
      status: 422,
      code: "arguments_refused",
      detail: expect.stringMatching(new RegExp(`^${by} `)) as string,
      errors: [{ pointer }],
    });
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "pending", approvals: 0 });
    await cancel(runId, "ann");
    expect(moved).toEqual([]);
  });

  test("what redaction hides from an editor stays what it was", async () => {
    const { runId, approvalId } = await askToPay({ pin: "1234" });
    await decide(approvalId, "bob", { ...APPROVE, arguments: { to: "bakery", amount: 7 } });
    const [next = ""] = openOf(await untilState(runId, { status: "waiting" }, "ann"));
    await decide(next, "cat", APPROVE);
    await ended(runId);
    expect(moved).toEqual(["7 to bakery with 1234"]);
  });

  test("an editor cannot add what the other approvers could not see", async () => {
    const { runId, approvalId } = await askToPay();
    const edited = { to: "bakery", amount: 40, pin: "9999" };
    const answer = await decide(approvalId, "bob", { ...APPROVE, arguments: edited });
    expect(await answer.json()).toMatchObject({ status: 422, errors: [{ pointer: "/pin" }] });
    expect(await viewOf(approvalId, "cat")).toMatchObject({ status: "pending", approvals: 0 });
    await cancel(runId, "ann");
  });

  test("the same arguments again are no edit", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "hello" })]);
    const answer = await decide(approvalId, "ann", { ...APPROVE, arguments: { what: "hello" } });
    expect(await answer.json()).toMatchObject({ status: "approved" });
    await ended(runId);
  });
});

describe("an answer to an edit", () => {
  const EDIT = { ...APPROVE, arguments: { to: "bakery", amount: 25 } };

  test("a repeated edit gets its first answer, after the effect and after a crash too", async () => {
    const { runId, approvalId } = await askToPay({ pin: "1234" });
    expect((await decide(approvalId, "bob", EDIT)).status).toBe(200);
    const [next = ""] = openOf(await untilState(runId, { status: "waiting" }, "ann"));
    const superseded = { status: "superseded", supersededBy: next };
    const again = await decide(approvalId, "bob", EDIT);
    expect([again.status, await again.json()]).toMatchObject([200, superseded]);
    expect((await decide(next, "cat", APPROVE)).status).toBe(200);
    await ended(runId);
    await crash(runId);
    const late = await decide(approvalId, "bob", {
      arguments: { amount: 25, to: "bakery" },
      ...APPROVE,
    });
    expect([late.status, await late.json()]).toMatchObject([200, superseded]);
    expect(moved).toEqual(["25 to bakery with 1234"]);
  });

  test("a late edit finds the approval closed, by whomever and after a crash too", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", EDIT);
    const [next = ""] = openOf(await untilState(runId, { status: "waiting" }, "ann"));
    const late = [
      ["cat", EDIT],
      ["cat", { ...APPROVE, arguments: { to: "bakery", amount: "many" } }],
      ["bob", { ...APPROVE, arguments: { to: "bakery", amount: 26 } }],
      ["bob", APPROVE],
    ] as const;
    const expectClosed = async (): Promise<void> => {
      for (const [caller, edit] of late) {
        const answer = await decide(approvalId, caller, edit);
        expect([answer.status, await answer.json()]).toMatchObject([
          409,
          { code: "approval_closed", approval: { status: "superseded", supersededBy: next } },
        ]);
      }
    };
    await expectClosed();
    await decide(next, "cat", APPROVE);
    await ended(runId);
    await crash(runId);
    await expectClosed();
    expect(moved).toEqual(["25 to bakery"]);
  });

  test("an approval that repeats the proposed arguments gets its first answer after the effect", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "hello" })]);
    const body = { ...APPROVE, arguments: { what: "hello" } };
    expect((await decide(approvalId, "ann", body)).status).toBe(200);
    await ended(runId);
    for (const repeated of [body, APPROVE]) {
      const answer = await decide(approvalId, "ann", repeated);
      expect([answer.status, await answer.json()]).toMatchObject([200, { status: "approved" }]);
    }
    const other = await decide(approvalId, "ann", { ...APPROVE, arguments: { what: "bye" } });
    expect(other.status).toBe(409);
    expect(moved).toEqual(["notified: hello"]);
  });
});
