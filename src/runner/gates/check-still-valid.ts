import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import { askHooks } from "./ask-hooks.ts";
import { checkHistory } from "./check-history.ts";
import { checkState } from "./check-state.ts";
import { stillWantedGate } from "./check-still-wanted.ts";
import { passAll, type GateTrail, type PortsOf } from "./gate.ts";
import type { ValiditySubject } from "./subjects.ts";

const GATES = [checkState, checkHistory, askHooks, stillWantedGate] as const;

/** What this group uses of the run. */
export type ValidityPorts = PortsOf<typeof GATES>;

/**
 * Group: checks that the call still makes sense: the target's state, the run's history, the
 * deployment's hooks, and that the run still wants it.
 * Fails: STALE_STATE, BUDGET_EXHAUSTED, POLICY_VIOLATION, TIMEOUT, UNKNOWN_ERROR.
 */
export function checkStillValid(
  ports: ValidityPorts,
  subject: ValiditySubject,
  trail: GateTrail,
): Promise<Result<ValiditySubject, ToolFailure>> {
  return passAll<ValiditySubject, ValidityPorts>(GATES, subject, { ports, trail });
}
