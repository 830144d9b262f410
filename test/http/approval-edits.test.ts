import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { frozen, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  decide,
  ended,
  openOf,
  viewOf,
} from "../shared/people.ts";
import { cancel, rowsOf, untilState } from "../shared/run-object.ts";
import { seedPolicies } from "../shared/worker.ts";

beforeAll(seedPolicies);

beforeEach(() => {
  moved.length = 0;
  frozen.clear();
});

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

  test("one person who is enough edits and approves in one word", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "helo" })]);
    await decide(approvalId, "ann", { ...APPROVE, arguments: { what: "hello" } });
    await ended(runId);
    expect(moved).toEqual(["notified: hello"]);
    const [row] = await rowsOf(runId, "SELECT ending FROM invocations");
    expect(JSON.stringify(row)).toContain("a person changed the arguments");
  });

  test.each([
    ["the wrong type", { to: "bakery", amount: "25" }, "/amount"],
    ["what a rule of the contract forbids", { to: "me", amount: 25 }, "/to"],
    ["an unknown field", { to: "bakery", amount: 25, extra: 1 }, ""],
    ["what they cannot see", { to: "bakery", amount: 25, pin: "9999" }, "/pin"],
  ])("an edit with %s is refused to the editor and ends nothing", async (_, args, pointer) => {
    const { runId, approvalId } = await askToPay({ pin: "1234" });
    const answer = await decide(approvalId, "bob", { ...APPROVE, arguments: args });
    expect(await answer.json()).toMatchObject({
      status: 422,
      code: "arguments_refused",
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

  // Mutant: an edit may hold what the next person is not shown.
  test("nobody adds what the others could not see", async () => {
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
