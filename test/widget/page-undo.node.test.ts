import { describe, expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { createApproval } from "./scripted-approvals.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});

const TOOL = { toolId: "library__return_book" };
const button = () => visit.page.getByRole("button", { name: "Undo: Lend book" });
const status = () => visit.page.getByRole("group").getByRole("status");
const sees = (text: string): Promise<void> => status().filter({ hasText: text }).waitFor();
const asked = () => visit.api.requestsTo(/POST .*\/compensate/);

/** Asks in the chat, and ends a run of one call, which the reader may undo. */
async function lendBook(call: object = { status: "available" }): Promise<string> {
  const run = await visit.ask("Lend it");
  visit.api.undo.put(run.id, { undo: { ...TOOL, ...call } as never });
  run.emit(say.proposeTool(0, "library__lend_book"), say.startTool(0, { book: "Emma" }));
  run.emit(say.finishTool(0, { book: "Emma" }), say.end());
  return run.id;
}

/** The next request to undo a call moves it on. */
function answerUndo(status: string, code = 200): void {
  visit.api.undo.onUndo = (runId) => {
    visit.api.undo.put(runId, { undo: { ...TOOL, status, runId: "run_undo" } });
    return { status: code, body: {} };
  };
}

describe("undo on the card of a call", () => {
  it("is asked for once, says that the call is undone, and keeps the reader's place", async () => {
    await open();
    await lendBook();
    answerUndo("undone");
    await button().focus();
    await visit.page.keyboard.press("Enter");
    await sees("Undone.");
    expect(await button().isVisible()).toBe(false);
    const focused = `(root) => root.activeElement?.textContent ?? ""`;
    await expect.poll(() => visit.inside<string>(focused)).toBe("Undone.");
    expect(asked().map(({ path }) => path)).toEqual([
      "/v1/runs/run_1/invocations/inv_1/compensate",
    ]);
  });

  it("stands beside what the model had read before the call, also after a reload", async () => {
    await open();
    const run = await visit.ask("Lend it");
    const after = [
      { kind: "more" },
      { kind: "tool", tool: "mail__read_mail", call: "c1" },
      { kind: "tool", tool: "web__open_page" },
      { kind: "file" },
      { kind: "new" },
    ];
    visit.api.undo.put(run.id, { undo: { ...TOOL, status: "available" }, after });
    run.emit(say.proposeTool(0, "library__lend_book"), say.startTool(0, { book: "Emma" }));
    run.emit(say.finishTool(0, { book: "Emma" }), say.end());
    const text =
      'Made after reading: earlier sources, a file, other text, results of "Read mail", "Open page"';
    await visit.page.getByText(text).waitFor();
    await visit.page.reload();
    await visit.page.getByText(text).waitFor();
    expect(await button().isVisible()).toBe(true);
  });

  it("is asked for once by two clicks", async () => {
    await open();
    await lendBook();
    answerUndo("running", 409);
    await button().dblclick();
    await sees("Undo is in progress.");
    expect(asked()).toHaveLength(1);
    visit.api.undo.put("run_1", { undo: { ...TOOL, status: "undone" } });
    await sees("Undone.");
  });

  it("is shown as it stands after a reload", async () => {
    await open();
    await lendBook();
    answerUndo("undone");
    await button().click();
    await sees("Undone.");
    await visit.page.reload();
    await sees("Undone.");
    expect(await button().isVisible()).toBe(false);
  });

  it("is not there for a reader who may not, and while the answer goes on", async () => {
    await open();
    const run = await visit.ask("Lend it");
    run.emit(say.proposeTool(0, "library__lend_book"), say.startTool(0, { book: "Emma" }));
    run.emit(say.finishTool(0, { book: "Emma" }));
    await visit.page.getByText("Done").first().waitFor();
    expect(await button().isVisible()).toBe(false);
    visit.api.undo.put(run.id, {});
    run.emit(say.startText(1), say.text(1, "It is lent."), say.end());
    await expect.poll(() => visit.api.requestsTo(/GET \/v1\/runs\/run_1$/)).toHaveLength(1);
    await visit.page.getByText("It is lent.").first().waitFor();
    expect(await button().isVisible()).toBe(false);
  });

  it.each([
    ["stale", "It cannot be undone any more: it has changed since."],
    ["failed", "The undo failed. An operator has to look into it."],
  ])("says in words that it is %s", async (outcome, words) => {
    await open();
    await lendBook();
    answerUndo(outcome);
    await button().click();
    await sees(words);
    expect(await button().isVisible()).toBe(false);
  });

  it("says why it was refused, and may be asked for again", async () => {
    await open();
    await lendBook();
    visit.api.undo.onUndo = () => ({
      status: 403,
      body: { code: "undo_not_allowed", title: "Ask an administrator." },
    });
    await button().click();
    await sees("It was not undone. Ask an administrator.");
    answerUndo("undone");
    await button().click();
    await sees("Undone.");
  });

  it("shows its approval on the card, and goes on once that is decided", async () => {
    await open();
    await lendBook();
    const approval = visit.api.approvals.put(createApproval());
    visit.api.undo.put("run_undo", { approvalId: approval.id });
    answerUndo("running", 202);
    await button().click();
    await sees("The undo waits for approval.");
    const card = visit.page.getByRole("dialog");
    await expect.poll(() => card.getByRole("button", { name: "Approve" }).isEnabled()).toBe(true);
    visit.api.undo.put("run_1", { undo: { ...TOOL, status: "undone", runId: "run_undo" } });
    await card.getByRole("button", { name: "Approve" }).click();
    await sees("Undone.");
    expect(await card.isVisible()).toBe(false);
  });

  it("says that nothing was undone when its approval is refused, and may be asked for again", async () => {
    await open();
    await lendBook();
    answerUndo("running", 202);
    await button().click();
    await sees("Undo is in progress.");
    visit.api.undo.put("run_1", { undo: { ...TOOL, status: "available" } });
    await sees("It was not undone: the undo was refused or stopped. You can try again.");
    expect(await button().isVisible()).toBe(true);
  });
});
