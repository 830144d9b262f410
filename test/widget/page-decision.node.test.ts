import { describe, expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { createApproval, vote } from "./scripted-approvals.ts";
import { usePage } from "./use-page.ts";
import { locateCard, startWaitingRun } from "./waiting-run.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
const { card, button, sees, decisions } = locateCard(() => visit);
const focused = () =>
  visit.inside<string>(
    `({ activeElement: e }) => e && (e.id || e.className || e.textContent || e.localName)`,
  );

describe("a decision", () => {
  it("is not made by a click or key that was meant for something else", async () => {
    await open({ holdSeconds: true });
    const { approval, run } = await startWaitingRun(visit, { pattern: "dual_control" });
    await button("Approve").waitFor();
    expect(await focused()).toBe("message");
    expect(await button("Approve").isDisabled()).toBe(true);
    expect(await button("Reject").isDisabled()).toBe(true);
    await visit.page.evaluate("release()");
    await expect.poll(() => button("Approve").isDisabled()).toBe(false);
    const voted = { ...approval, votes: [vote("user:bob", "approve")] };
    run.emit(say.updateApproval(visit.api.approvals.put(voted)));
    await sees("1 of 2 so far.");
    expect(await button("Approve").isDisabled()).toBe(true);
    expect(await focused()).toBe("message");
    await visit.page.evaluate("release()");
    await card().getByLabel("Reason").press("Enter");
    expect(decisions()).toEqual([]);
  });

  it("about a critical call needs the typed name of the tool", async () => {
    await open();
    await startWaitingRun(visit, { packet: { riskClass: "CRITICAL_MUTATION" } });
    await expect.poll(() => button("Reject").isDisabled()).toBe(false);
    expect(await button("Approve").isDisabled()).toBe(true);
    const field = card().getByLabel("Type pay__refund to approve");
    await field.fill("pay__refun");
    expect(await button("Approve").isDisabled()).toBe(true);
    await field.fill("pay__refund");
    await button("Approve").click();
    await sees("Approved.");
  });

  it("of a compliance reviewer needs a reason", async () => {
    await open();
    await startWaitingRun(visit, { pattern: "compliance" });
    await expect.poll(() => button("Reject").isDisabled()).toBe(false);
    expect(await button("Approve").isDisabled()).toBe(true);
    await card().getByLabel("Reason (required)").fill("  checked with legal ");
    await button("Approve").click();
    await sees("Approved.");
    expect(decisions()).toEqual([{ decision: "approve", reason: "checked with legal" }]);
  });

  it("can be made with the keyboard alone, and then the focus moves to the outcome", async () => {
    await open();
    await startWaitingRun(visit);
    await expect.poll(() => button("Reject").isDisabled()).toBe(false);
    await card().getByLabel("Reason").focus();
    await visit.page.keyboard.type("no");
    await visit.page.keyboard.press("Tab");
    await visit.page.keyboard.press("Tab");
    expect(await focused()).toBe("reject");
    await visit.page.keyboard.press("Enter");
    await sees("Rejected. The tool does not run.");
    expect(decisions()).toEqual([{ decision: "reject", reason: "no" }]);
    await expect.poll(focused).toBe("outcome");
  });

  it("that comes too late shows the earlier decision", async () => {
    await open();
    const { approval } = await startWaitingRun(visit);
    const rejected = [vote("user:bob", "reject", "wrong invoice")];
    visit.api.approvals.put({ ...approval, status: "rejected", votes: rejected });
    await button("Approve").click();
    await sees(/Rejected\. The tool does not run\. This approval is closed/);
    await sees("user:bob");
    await sees("wrong invoice");
  });

  it("that the server refuses shows the reason", async () => {
    await open();
    await startWaitingRun(visit);
    visit.api.approvals.onDecide = () => ({
      status: 403,
      body: { code: "approver_not_allowed", reason: "role_missing", title: "internal" },
    });
    await button("Approve").click();
    await sees("You do not have a role that can decide this approval.");
    visit.api.approvals.onDecide = () => ({ status: 500, body: {} });
    await button("Approve").click();
    await sees("The server answered with status 500.");
  });
});

describe("editing the arguments", () => {
  const packet = { arguments: { shown: { amount: 40, to: "an\u200bn" }, withheld: [] } };

  it("shows errors at the field, and requests a new approval for valid arguments", async () => {
    await open();
    const { approval } = await startWaitingRun(visit, { packet });
    await button("Edit arguments").click();
    const field = card().getByLabel(/^Arguments as JSON/);
    expect(await field.inputValue()).toBe('{\n  "amount": 40,\n  "to": "an\\u200bn"\n}');
    await field.fill("{amount: 4}");
    await button("Submit changed arguments").click();
    await sees("This is not a JSON object.");
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    visit.api.approvals.onDecide = () => ({
      status: 422,
      body: {
        code: "arguments_refused",
        title: "The arguments do not fit",
        errors: [{ pointer: "/amount", message: "expected at most 30" }],
      },
    });
    await field.fill('{"amount":35}');
    await button("Submit changed arguments").click();
    await sees("Amount: expected at most 30");
    const next = createApproval({
      id: "appr_a_b_1_2",
      packet: { arguments: { shown: { amount: 30 }, withheld: [] }, consequence: "Ann gets 30." },
    });
    visit.api.approvals.onDecide = (id) => {
      visit.api.approvals.onDecide = undefined;
      visit.api.approvals.put(next);
      visit.api.approvals.put({ ...approval, status: "superseded" });
      const body = visit.api.approvals.view(id);
      // The run requests the new approval a little later.
      setTimeout(() => {
        visit.api.approvals.put({ ...approval, status: "superseded", supersededBy: next.id });
      }, 300);
      return { status: 200, body };
    };
    await field.fill('{"amount":30}');
    await button("Submit changed arguments").click();
    await sees("Ann gets 30.");
    expect(decisions().at(-1)).toEqual({ decision: "approve", arguments: { amount: 30 } });
    await button("Approve").click();
    await sees("Approved.");
    expect(visit.api.requestsTo(/POST .*_2\/decisions/)).toHaveLength(1);
  });
});
