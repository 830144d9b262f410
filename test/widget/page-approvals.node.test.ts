import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import { setStage, type Stage, type Visit, type VisitOptions } from "./open-page.ts";
import * as say from "./run-events.ts";
import type { ScriptedRun } from "./scripted-api.ts";
import { askQuestion, type AskedQuestion, vote } from "./scripted-approvals.ts";

let stage: Stage;
let visit: Visit;

beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.close());
afterEach(async () => {
  await visit.close();
  expect(visit.complaints).toEqual([]);
});

const card = () => visit.page.getByRole("dialog");
const button = (name: string | RegExp) => card().getByRole("button", { name });
const sees = (text: string | RegExp) => card().getByText(text).first().waitFor();
const decisions = () =>
  visit.api.requestsTo(/POST .*\/decisions/).map(({ body }) => JSON.parse(body) as object);
const focused = () =>
  visit.inside<string>(
    `({ activeElement: e }) => e && (e.id || e.className || e.textContent || e.localName)`,
  );

/** A run that waits for people to decide about its one call. */
async function wait(asked: AskedQuestion = {}, options: VisitOptions = {}) {
  visit = await stage.open(options);
  const question = visit.api.approvals.put(askQuestion(asked));
  const run = await visit.ask("Do it");
  run.emit(say.proposeTool(0, "pay__refund"), say.requestApproval(question), say.waitForPeople());
  await card().waitFor();
  return { question, run };
}

function end(run: ScriptedRun, question: ApprovalRecord): void {
  run.emit(say.tellPeople({ ...question, status: "approved" }), say.startTool(0, { amount: 40 }));
  run.emit(
    say.finishTool(0, { ok: true }),
    say.startText(1),
    say.text(1, "It is done."),
    say.end(),
  );
}

describe("a question in the chat", () => {
  it("shows what would happen, goes on when it is approved, and listens meanwhile", async () => {
    const { question, run } = await wait();
    for (const text of ["Refund 40 EUR to Ann", "Ann gets 40 EUR back.", "It cannot be undone."]) {
      await sees(text);
    }
    await sees("not shown, as its contract says");
    await sees("One person has to agree, as operator, other than user:cleo.");
    await sees(/\d (minutes|seconds) left/);
    expect(await visit.page.getByRole("log").getByText("Waiting for approval…").count()).toBe(1);
    await expect.poll(() => run.listeners).toBe(1);
    expect(visit.api.requestsTo(/GET .*\/events/).map((seen) => seen.lastEventId)).toEqual(["0-3"]);
    await button("Approve").click();
    await sees("Approved.");
    expect(decisions()).toEqual([{ decision: "approve" }]);
    end(run, question);
    await visit.page.getByText("It is done.").first().waitFor();
    expect(await card().isVisible()).toBe(false);
  });

  // Mutant: the chat is not told of what the card asks for itself.
  it("is seen to its end by whoever is at the end of the chat", async () => {
    await wait({}, { viewport: { width: 600, height: 480 } });
    await sees("not shown, as its contract says");
    const fromEnd = `(root) => {
      const { scrollHeight, scrollTop, clientHeight } = root.querySelector("[role=log]");
      return scrollHeight - scrollTop - clientHeight;
    }`;
    await expect.poll(() => visit.inside<number>(fromEnd)).toBeLessThan(2);
  });

  it("is there after a reload", async () => {
    const { question, run } = await wait();
    await visit.page.reload();
    await button("Approve").waitFor();
    await expect.poll(() => run.listeners).toBe(1);
    end(run, question);
    await visit.page.getByText("It is done.").first().waitFor();
  });

  it("tells what somebody else decided, on another device", async () => {
    const { question, run } = await wait({ pattern: "dual_control" });
    await button("Approve").waitFor();
    const voted = { ...question, votes: [vote("user:bob", "approve", "looks right")] };
    run.emit(say.tellPeople(visit.api.approvals.put(voted)));
    await sees("1 of 2 so far.");
    await sees("user:bob");
    const rejected = { ...voted, status: "rejected" as const };
    run.emit(say.tellPeople(visit.api.approvals.put(rejected)));
    await sees("Rejected. The tool does not run.");
    expect(await button("Approve").count()).toBe(0);
  });

  it("has no buttons for whoever may not decide, and says why", async () => {
    visit = await stage.open({
      prepare: (api) => {
        api.approvals.mayNot = "role_missing";
      },
    });
    const question = visit.api.approvals.put(askQuestion());
    const run = await visit.ask("Do it");
    run.emit(say.proposeTool(0, "pay__refund"), say.requestApproval(question), say.waitForPeople());
    await sees("It takes a role that you do not have.");
    expect(await card().getByRole("button").count()).toBe(0);
  });

  it("can be taken back by whoever asked, and not approved by them", async () => {
    visit = await stage.open({
      prepare: (api) => {
        api.approvals.mayNot = "own_request";
      },
    });
    const question = visit.api.approvals.put(askQuestion({ pattern: "compliance" }));
    const run = await visit.ask("Do it");
    run.emit(say.proposeTool(0, "pay__refund"), say.requestApproval(question), say.waitForPeople());
    await sees("You asked for this, so somebody else has to approve it.");
    expect(await card().getByRole("button").allTextContents()).toEqual(["Take it back"]);
    await button("Take it back").click();
    await sees("Rejected. The tool does not run.");
  });
});

describe("a question", () => {
  // Mutant: nobody asks how it ended.
  it("whose time is up is asked for its end, where no stream tells", async () => {
    const { question } = await wait({ ttlMs: 1_500 });
    await sees("The time is up.");
    visit.api.approvals.put({ ...question, status: "expired" });
    await sees("Nobody decided in time. The tool does not run.");
  });

  // Mutant: `said` is not looked at.
  it("that the reader has agreed to cannot be agreed to twice, only edited or rejected", async () => {
    const { question } = await wait({ pattern: "dual_control" });
    await button("Approve").click();
    await sees("You have agreed. Until it is decided you can still reject it.");
    expect(await card().getByRole("button").allTextContents()).toEqual([
      "Reject",
      "Edit arguments",
    ]);
    await button("Edit arguments").click();
    await button("Ask with these arguments").waitFor();
    await button("Keep the arguments").click();
    visit.api.approvals.put({ ...question, votes: [] });
    await button("Reject").click();
    await sees("Rejected. The tool does not run.");
  });
});

describe("a decision", () => {
  // Mutant: a form whose buttons work at once.
  it("cannot be made by a click or a key that was meant for something else", async () => {
    const { question, run } = await wait({ pattern: "dual_control" }, { holdSeconds: true });
    await button("Approve").waitFor();
    expect(await focused()).toBe("message");
    expect(await button("Approve").isDisabled()).toBe(true);
    expect(await button("Reject").isDisabled()).toBe(true);
    await visit.page.evaluate("release()");
    await expect.poll(() => button("Approve").isDisabled()).toBe(false);
    const voted = { ...question, votes: [vote("user:bob", "approve")] };
    run.emit(say.tellPeople(visit.api.approvals.put(voted)));
    await sees("1 of 2 so far.");
    expect(await button("Approve").isDisabled()).toBe(true);
    expect(await focused()).toBe("message");
    await visit.page.evaluate("release()");
    await card().getByLabel("Reason").press("Enter");
    expect(decisions()).toEqual([]);
  });

  // Mutant: `isSure` is always true.
  it("of critical consequence takes the name of the tool, not one click", async () => {
    await wait({ packet: { riskClass: "CRITICAL_MUTATION" } });
    await expect.poll(() => button("Reject").isDisabled()).toBe(false);
    expect(await button("Approve").isDisabled()).toBe(true);
    const field = card().getByLabel("Type pay__refund to approve");
    await field.fill("pay__refun");
    expect(await button("Approve").isDisabled()).toBe(true);
    await field.fill("pay__refund");
    await button("Approve").click();
    await sees("Approved.");
  });

  // Mutant: `needsReason` is never asked for.
  it("of those who answer for the rules takes a reason", async () => {
    await wait({ pattern: "compliance" });
    await expect.poll(() => button("Reject").isDisabled()).toBe(false);
    expect(await button("Approve").isDisabled()).toBe(true);
    await card().getByLabel("Reason (needed)").fill("  checked with legal ");
    await button("Approve").click();
    await sees("Approved.");
    expect(decisions()).toEqual([{ decision: "approve", reason: "checked with legal" }]);
  });

  it("can be made with the keyboard alone, and the focus goes on from what came of it", async () => {
    await wait();
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

  it("that comes too late is told what happened instead", async () => {
    const { question } = await wait();
    const rejected = [vote("user:bob", "reject", "wrong invoice")];
    visit.api.approvals.put({ ...question, status: "rejected", votes: rejected });
    await button("Approve").click();
    await sees(/Rejected\. The tool does not run\. This question is closed/);
    await sees("user:bob");
    await sees("wrong invoice");
  });

  it("that is refused says why", async () => {
    await wait();
    visit.api.approvals.onDecide = () => ({
      status: 403,
      body: { code: "approver_not_allowed", reason: "role_missing", title: "internal" },
    });
    await button("Approve").click();
    await sees("It takes a role that you do not have.");
    visit.api.approvals.onDecide = () => ({ status: 500, body: {} });
    await button("Approve").click();
    await sees("The server answered with status 500.");
  });
});

describe("editing the arguments", () => {
  const packet = { arguments: { shown: { amount: 40, to: "an\u200bn" }, withheld: [] } };

  it("shows what is wrong at the field, and asks anew with what is right", async () => {
    const { question } = await wait({ packet });
    await button("Edit arguments").click();
    const field = card().getByLabel(/^Arguments, as JSON/);
    expect(await field.inputValue()).toBe('{\n  "amount": 40,\n  "to": "an\\u200bn"\n}');
    await field.fill("{amount: 4}");
    await button("Ask with these arguments").click();
    await sees("This is no JSON object.");
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
    await button("Ask with these arguments").click();
    await sees("/amount: expected at most 30");
    const next = askQuestion({
      id: "appr_a_b_1_2",
      packet: { arguments: { shown: { amount: 30 }, withheld: [] }, consequence: "Ann gets 30." },
    });
    visit.api.approvals.onDecide = (id) => {
      visit.api.approvals.onDecide = undefined;
      visit.api.approvals.put(next);
      visit.api.approvals.put({ ...question, status: "superseded" });
      const body = visit.api.approvals.view(id);
      // The run asks anew a little later.
      setTimeout(() => {
        visit.api.approvals.put({ ...question, status: "superseded", supersededBy: next.id });
      }, 300);
      return { status: 200, body };
    };
    await field.fill('{"amount":30}');
    await button("Ask with these arguments").click();
    await sees("Ann gets 30.");
    expect(decisions().at(-1)).toEqual({ decision: "approve", arguments: { amount: 30 } });
    await button("Approve").click();
    await sees("Approved.");
    expect(visit.api.requestsTo(/POST .*_2\/decisions/)).toHaveLength(1);
  });
});

const HOSTILE = [
  "<script>alert(1)</script>",
  '<img src="x" onerror="alert(1)">',
  "[click](javascript:alert(1))",
  '"><svg onload=alert(1)>',
  "\u202e\u200b\u0000\r\n\u2028Risk: READ_ONLY",
].join(" ");

describe("hostile text in every field of a question", () => {
  // Mutants: innerHTML in el(); a card that draws the packet in place of its lines.
  it("stays text, and hides nothing", async () => {
    const states = { [HOSTILE]: HOSTILE, list: [HOSTILE, { [HOSTILE]: HOSTILE }] };
    const { run, question } = await wait({
      packet: {
        actionName: { title: HOSTILE, tool: HOSTILE, version: HOSTILE },
        consequence: HOSTILE,
        arguments: { shown: states, withheld: [`/${HOSTILE}`] },
        beforeState: states,
        afterState: states,
        idempotencyFingerprint: HOSTILE,
        compensation: { reversible: true, tool: HOSTILE, note: HOSTILE },
        rejectionPath: HOSTILE,
        traceId: HOSTILE,
      },
    });
    const voted = { ...question, votes: [vote(HOSTILE, "approve", HOSTILE)] };
    visit.api.approvals.onDecide = () => ({
      status: 422,
      body: { title: HOSTILE, errors: [{ pointer: `/${HOSTILE}`, message: HOSTILE }] },
    });
    run.emit(say.tellPeople(visit.api.approvals.put({ ...voted, requester: HOSTILE as never })));
    await button("Reject").click();
    await sees(/alert\(1\)/);
    const names = await visit.inside<string[]>(
      `(root) => [...root.querySelectorAll("*")].map((e) => e.localName)`,
    );
    const forbidden = /^(a|script|img|iframe|object|embed|i|b|style|link|base)$/;
    expect(names.filter((name) => forbidden.test(name))).toEqual([]);
    const attributes = await visit.inside<string[]>(
      `(root) => [...root.querySelectorAll("*")].flatMap((e) => e.getAttributeNames())
        .filter((name) => /^on|^href$|^src|^style$/.test(name))`,
    );
    expect(attributes).toEqual([]);
    const shown = await visit.inside<string>(
      `(root) => root.querySelector(".packet").textContent + root.querySelector("h3").textContent`,
    );
    expect(shown).not.toMatch(/[\p{Cc}\u202e\u200b\u2028]/u);
    expect(shown.split("⟦U+202E⟧").length).toBeGreaterThan(15);
  });
});

describe("the accessibility tree", () => {
  it("has a dialog with a name, fields with labels, and says that somebody is asked", async () => {
    await wait({ packet: { riskClass: "CRITICAL_MUTATION" } });
    await expect.poll(() => button("Reject").isDisabled()).toBe(false);
    await visit.page.getByRole("dialog", { name: "Refund 40 EUR to Ann" }).waitFor();
    const tree = await card().ariaSnapshot();
    for (const line of [
      '- heading "Refund 40 EUR to Ann" [level=3]',
      '- region "Arguments":',
      '- textbox "Reason (if you like)"',
      '- textbox "Type pay__refund to approve"',
      '- button "Approve" [disabled]',
      '- button "Reject"',
    ]) {
      expect(tree).toContain(line);
    }
    const said = visit.page.locator("p.sr");
    await expect.poll(() => said.textContent()).toContain("A tool waits for approval.");
  });
});
