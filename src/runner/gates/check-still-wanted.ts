import { failCall } from "../../protocol/outcome/failures.ts";
import type { PendingSteering } from "../../capabilities/run-journal.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { CallHistory } from "../call-history.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import { CANCELLED } from "../outcome/tool-failure.ts";
import { PASSED, type Gate, type GateTrail } from "./gate.ts";
import type { WantedSubject } from "./subjects.ts";

/** What this gate uses of the run. */
export interface WantedPorts {
  readonly history: CallHistory;
  readonly invocations: Pick<InvocationLedger, "isEndedByHook">;
  readonly inbox: Pick<PendingSteering, "hasSteering">;
}

/**
 * Checks that the run still wants the call. The run may be cancelled or ended by a hook, the tool
 * withdrawn, or a steering message may wait. The runner asks before the first gate, in
 * `checkStillValid`, immediately before the dispatch and before a retry.
 * Fails: UNKNOWN_ERROR when the run is cancelled; BUDGET_EXHAUSTED for a withdrawn tool;
 * STALE_STATE.
 */
export const stillWantedGate = {
  name: "still_wanted",
  check({ tool, signal, hasBegun, isStep }, { history, inbox, invocations }) {
    if (signal.aborted) return CANCELLED;
    if (isStep) return PASSED;
    if (invocations.isEndedByHook && !hasBegun) return RUN_ENDED;
    if (history.isWithdrawn(tool.id)) return TOOL_WITHDRAWN;
    return hasBegun || !inbox.hasSteering ? PASSED : SKIPPED;
  },
} as const satisfies Gate<WantedSubject, WantedPorts>;

/** Asks the gate above on its own. Fails: what the gate fails with. */
export function checkStillWanted(
  ports: WantedPorts,
  subject: WantedSubject,
  trail: GateTrail,
): Result<unknown, ToolFailure> {
  return trail.note(stillWantedGate.name, stillWantedGate.check(subject, ports));
}

const TOOL_WITHDRAWN = failCall("tool_withdrawn");
const SKIPPED = failCall("skipped");
const RUN_ENDED = failCall("run_ended");
