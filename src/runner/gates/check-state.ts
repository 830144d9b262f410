import { askTool, type AskPorts } from "../author-code/ask-tool.ts";
import type { ValiditySubject } from "./subjects.ts";
import { PASSED, type Gate } from "./gate.ts";

/**
 * The gate `state`: asks the contract whether the target is still as the call assumes.
 * Fails: STALE_STATE, or the failure that the check returns; TIMEOUT; UNKNOWN_ERROR.
 */
export const checkState: Gate<ValiditySubject, AskPorts> = {
  name: "state",
  async check(subject, ports) {
    const { tool, accepted, authority } = subject;
    const { context, scope } = authority;
    const answer = await askTool(ports, subject, () =>
      tool.checkState(accepted.args, context, scope),
    );
    return answer.ok ? PASSED : answer;
  },
};
