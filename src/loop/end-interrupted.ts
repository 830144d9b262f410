import type { ApprovalDesk } from "../capabilities/approval.ts";
import type { Clock } from "../capabilities/system.ts";
import type { RunJournal, SteeringInbox } from "../capabilities/run-journal.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { InvocationLedger } from "../runner/invocation/invocation-ledger.ts";
import { closeOpenCalls } from "./calls/close-open-calls.ts";
import { endOfStop, endRun } from "./run-end.ts";
import { finishOpenParts, type RunMemory } from "./run-memory.ts";
import { Transcript } from "./history/transcript.ts";

interface EndingPorts {
  readonly journal: RunJournal;
  readonly inbox: SteeringInbox;
  readonly approvals: ApprovalDesk;
}

/**
 * Ends a run that crashes have interrupted too often. It closes the open calls and texts, and
 * appends a `done` event that says so.
 * Contract: synchronous; asks nothing outside the run's object, so nothing can keep it from ending.
 */
export function endInterrupted(
  { journal, inbox, approvals }: EndingPorts,
  { claim, memory }: { readonly claim: RunClaim; readonly memory: RunMemory },
  clock: Clock,
): void {
  const { transcript: messages, progress } = memory;
  const invocations = new InvocationLedger(journal, memory.invocations);
  const claimedMessages = claim.messages.length;
  const transcript = new Transcript(journal, { messages, claimedMessages });
  closeOpenCalls({ clock, journal, approvals }, claim, { invocations, transcript });
  journal.append(finishOpenParts(progress));
  endRun({ journal, inbox }, { ...endOfStop("interrupted"), usage: progress.usage });
}
