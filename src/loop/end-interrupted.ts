import type { ApprovalDesk } from "../capabilities/approval.ts";
import type { Clock } from "../capabilities/system.ts";
import type { SteeringInbox, RunJournal } from "../capabilities/run-journal.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { InvocationLedger } from "../runner/invocation-ledger.ts";
import { closeOpenCalls } from "./close-open-calls.ts";
import { endRun } from "./end-run.ts";
import { endOfStop } from "./run-end.ts";
import type { RunMemory } from "./run-memory.ts";

interface EndingPorts {
  readonly journal: RunJournal;
  readonly inbox: SteeringInbox;
  readonly approvals: ApprovalDesk;
}

/**
 * Ends a run that no loop could carry to its end: closes the calls and the texts that were left open, and
 * says that it was interrupted. It asks nobody, so that nothing can keep it from ending.
 */
export function endInterrupted(
  { journal, inbox, approvals }: EndingPorts,
  { claim, memory }: { readonly claim: RunClaim; readonly memory: RunMemory },
  clock: Clock,
): void {
  const { transcript, progress } = memory;
  const invocations = new InvocationLedger(journal, memory.invocations);
  closeOpenCalls({ clock, journal, invocations, approvals }, claim, transcript);
  journal.append(progress.openTexts.map((part) => ({ type: "text_finished", part })));
  endRun({ journal, inbox }, endOfStop("interrupted"), progress.usage);
}
