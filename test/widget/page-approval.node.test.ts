import { describe, expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { vote } from "./scripted-approvals.ts";
import { usePage } from "./use-page.ts";
import { finishRun, locateCard, startWaitingRun } from "./waiting-run.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
const { card, button, sees, decisions } = locateCard(() => visit);

describe("an approval in the chat", () => {
  it("shows what the call would do, and the answer continues once the call is approved", async () => {
    await open();
    const { approval, run } = await startWaitingRun(visit);
    for (const text of ["Refund 40 EUR to Ann", "Ann gets 40 EUR back.", "It cannot be undone."]) {
      await sees(text);
    }
    await sees(/^withheld: /);
    await sees("Needs 1 approval from role operator, but not from cleo.");
    await sees(/\d (minutes|seconds) left/);
    expect(await visit.page.getByRole("log").getByText("Waiting for approval…").count()).toBe(1);
    await button("Approve").click();
    await sees("Approved.");
    expect(decisions()).toEqual([{ decision: "approve" }]);
    finishRun({ run, approval });
    await visit.page.getByText("It is done.").first().waitFor();
    expect(await card().isVisible()).toBe(false);
  });

  it("lies below the list of chats, also with the buttons that stay in sight", async () => {
    await open({ viewport: { width: 360, height: 640 } });
    await startWaitingRun(visit);
    await expect.poll(() => button("Approve").isEnabled()).toBe(true);
    const { x, y } = (await button("Approve").boundingBox()) ?? { x: 0, y: 0 };
    // No point finds an inert element, and yet it can be seen.
    const isCovered = () =>
      visit.inside(`(root) => {
        for (const element of root.querySelectorAll("[inert]")) element.inert = false;
        return root.elementFromPoint(${x + 8}, ${y + 8}).closest(".chats") !== null;
      }`);
    expect(await isCovered()).toBe(false);
    await visit.page.getByRole("button", { name: "Chats" }).click();
    await expect.poll(isCovered).toBe(true);
  });

  const returns = () => visit.api.requestsTo(/GET .*\/events/).map((seen) => seen.lastEventId);

  it("holds no connection while people decide, and returns at once after the reader's decision", async () => {
    await open({
      prepare: (api) => {
        api.returnAfterMs = 600_000;
      },
    });
    const waiting = await startWaitingRun(visit);
    await expect.poll(() => button("Approve").isEnabled()).toBe(true);
    expect(waiting.run.listeners).toBe(0);
    expect(returns()).toEqual([]);
    await button("Approve").click();
    await expect.poll(() => waiting.run.listeners).toBe(1);
    expect(returns()).toEqual(["0-3"]);
    finishRun(waiting);
    await visit.page.getByText("It is done.").first().waitFor();
  });

  it("is not asked for while the page is hidden", async () => {
    await open({
      prepare: (api) => {
        api.returnAfterMs = 0;
      },
    });
    const see = (state: string) =>
      visit.page.evaluate(
        `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`,
      );
    await see("hidden");
    const waiting = await startWaitingRun(visit);
    await expect.poll(() => button("Approve").isEnabled()).toBe(true);
    expect(returns()).toEqual([]);
    finishRun(waiting);
    await see("visible");
    await visit.page.getByText("It is done.").first().waitFor();
    expect(returns()).toEqual(["0-3"]);
  });

  it("stays in view to its end when the reader is at the end of the chat", async () => {
    await open({
      viewport: { width: 600, height: 480 },
      prepare: (api) => {
        api.returnAfterMs = 600_000;
      },
    });
    await startWaitingRun(visit);
    await sees(/^withheld: /);
    const fromEnd = `(root) => {
      const { scrollHeight, scrollTop, clientHeight } = root.querySelector("[role=log]");
      return scrollHeight - scrollTop - clientHeight;
    }`;
    await expect.poll(() => visit.inside<number>(fromEnd)).toBeLessThan(2);
    // A card grows later, too: when its image arrives, for example.
    await visit.inside(`(root) => {
      const late = document.createElement("p");
      late.style.height = "200px";
      root.querySelector("[role=log]").firstElementChild.append(late);
    }`);
    await expect.poll(() => visit.inside<number>(fromEnd)).toBeLessThan(2);
  });

  it("is shown again after a reload", async () => {
    await open();
    const { approval, run } = await startWaitingRun(visit);
    await visit.page.reload();
    await button("Approve").waitFor();
    finishRun({ run, approval });
    await visit.page.getByText("It is done.").first().waitFor();
  });

  it("shows what another person decides on another device", async () => {
    await open();
    const { approval, run } = await startWaitingRun(visit, { pattern: "dual_control" });
    await button("Approve").waitFor();
    const voted = { ...approval, votes: [vote("user:bob", "approve", "looks right")] };
    run.emit(say.updateApproval(visit.api.approvals.put(voted)));
    await sees("1 of 2 so far.");
    await sees("user:bob");
    const rejected = { ...voted, status: "rejected" as const };
    run.emit(say.updateApproval(visit.api.approvals.put(rejected)));
    await sees("Rejected. The tool does not run.");
    expect(await button("Approve").count()).toBe(0);
  });

  it("tells of several rules what each still needs", async () => {
    await open();
    const patterns = ["dual_control", "compliance"] as const;
    const { approval, run } = await startWaitingRun(visit, { patterns });
    await sees("compliance, but not from cleo: waiting. A person counts for one of them.");
    const voted = { ...approval, votes: [vote("user:bob", "approve", "looks right")] };
    run.emit(say.updateApproval(visit.api.approvals.put(voted)));
    await sees("Needs 2 approvals from role approver or operator, but not from cleo: 1 of 2");
  });

  it("has no buttons for a reader who may not decide, and gives the reason", async () => {
    await open({
      prepare: (api) => {
        api.approvals.mayNot = "role_missing";
      },
    });
    await startWaitingRun(visit);
    await sees("You do not have a role that can decide this approval.");
    expect(await card().getByRole("button").count()).toBe(0);
  });

  it("can be cancelled, but not approved, by the person who requested it", async () => {
    await open({
      prepare: (api) => {
        api.approvals.mayNot = "own_request";
      },
    });
    await startWaitingRun(visit, { pattern: "compliance" });
    await sees("You requested this call, so another person must approve it.");
    expect(await card().getByRole("button").allTextContents()).toEqual(["Cancel request"]);
    await button("Cancel request").click();
    await sees("Rejected. The tool does not run.");
  });
});

describe("an approval", () => {
  it("reads its end from the server when its time is up and no stream reports it", async () => {
    await open();
    const { approval } = await startWaitingRun(visit, { ttlMs: 1_500 });
    await sees("Time is up.");
    visit.api.approvals.put({ ...approval, status: "expired" });
    await sees("Nobody decided in time. The tool does not run.");
  });

  it("that the reader approved can only be edited or rejected, not approved again", async () => {
    await open();
    const { approval } = await startWaitingRun(visit, { pattern: "dual_control" });
    await button("Approve").click();
    await sees("You have approved this. You can still reject it until the decision is complete.");
    expect(await card().getByRole("button").allTextContents()).toEqual([
      "Reject",
      "Edit arguments",
    ]);
    await button("Edit arguments").click();
    await button("Submit changed arguments").waitFor();
    await button("Discard changes").click();
    visit.api.approvals.put({ ...approval, votes: [] });
    await button("Reject").click();
    await sees("Rejected. The tool does not run.");
  });
});

describe("the accessibility tree", () => {
  it("has a named dialog and labelled fields, and announces that an approval is needed", async () => {
    await open();
    await startWaitingRun(visit, { packet: { riskClass: "CRITICAL_MUTATION" } });
    await expect.poll(() => button("Reject").isDisabled()).toBe(false);
    await visit.page.getByRole("dialog", { name: "Refund 40 EUR to Ann" }).waitFor();
    const tree = await card().ariaSnapshot();
    for (const line of [
      '- heading "Refund 40 EUR to Ann"',
      '- region "Arguments":',
      '- textbox "Reason (optional)"',
      '- textbox "Type pay__refund to approve"',
      '- button "Approve" [disabled]',
      '- button "Reject"',
    ]) {
      expect(tree).toContain(line);
    }
    const announcer = visit.page.locator("p.sr");
    await expect.poll(() => announcer.textContent()).toContain("A tool call needs an approval.");
  });
});
