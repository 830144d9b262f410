import { fail } from "../../protocol/outcome/result.ts";
import { refreshState, type RefreshPorts } from "../output/refresh-state.ts";
import { askTool, type AskPorts } from "../author-code/ask-tool.ts";
import { checkContextOf, type CheckContextPorts } from "./check-context.ts";
import type { ValiditySubject } from "./subjects.ts";
import { PASSED, type Gate } from "./gate.ts";

/**
 * The gate `state`: asks the contract whether the target is still as the call assumes.
 * Fails: STALE_STATE with the state of the target, where the contract can read it, or the failure
 * that the check returns; TIMEOUT; UNKNOWN_ERROR.
 */
export const checkState: Gate<ValiditySubject, AskPorts & CheckContextPorts & RefreshPorts> = {
  name: "state",
  async check(subject, ports) {
    const { tool, accepted, authority } = subject;
    const context = checkContextOf(ports, authority.context, accepted.payloadHash);
    const answer = await askTool(ports, subject, () =>
      tool.checkState(accepted.args, context, authority.scope),
    );
    return answer.ok ? PASSED : fail(await refreshState(ports, subject, answer.failure));
  },
};
