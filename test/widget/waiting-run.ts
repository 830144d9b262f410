import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import type { ScriptedRun } from "./scripted-api.ts";
import { type ApprovalOptions, createApproval } from "./scripted-approvals.ts";

/** A run whose one call waits for an approval. */
export interface WaitingRun {
  readonly approval: ApprovalRecord;
  readonly run: ScriptedRun;
}

/** Asks in the chat, and starts a run that waits for an approval. */
export async function startWaitingRun(
  visit: Visit,
  options: ApprovalOptions = {},
): Promise<WaitingRun> {
  const approval = visit.api.approvals.put(createApproval(options));
  const run = await visit.ask("Do it");
  run.emit(say.proposeTool(0, "pay__refund"), say.requestApproval(approval), say.waitForApproval());
  await visit.page.getByRole("dialog").waitFor();
  return { approval, run };
}

/** Runs the approved call, and ends the run. */
export function finishRun({ run, approval }: WaitingRun): void {
  run.emit(
    say.updateApproval({ ...approval, status: "approved" }),
    say.startTool(0, { amount: 40 }),
    say.finishTool(0, { ok: true }),
    say.startText(1),
    say.text(1, "It is done."),
    say.end(),
  );
}

/** Reads and operates the approval card of a page. */
export function locateCard(visit: () => Visit) {
  const card = () => visit().page.getByRole("dialog");
  return {
    card,
    button: (name: string | RegExp) => card().getByRole("button", { name }),
    sees: (text: string | RegExp) => card().getByText(text).first().waitFor(),
    /** The bodies of the decisions that the page sent. */
    decisions: () =>
      visit()
        .api.requestsTo(/POST .*\/decisions/)
        .map(({ body }) => JSON.parse(body) as object),
  };
}
