import { failCall } from "../../protocol/outcome/failures.ts";
import { mayMove } from "../../protocol/policy/data-classes.ts";
import type { CallerPorts } from "./check-caller.ts";
import { PASSED } from "./gate.ts";
import type { ToolUnderTerms } from "./subjects.ts";

/**
 * The gate `data`: checks that policy lets the data of the tool go to the models, the assistant and
 * the caller of the run, and that all data the call may carry may go to the services that the tool
 * reaches (seeds/004, gate 7: data residency). Fails: POLICY_VIOLATION.
 */
export const checkData = {
  name: "data",
  check: ({ terms, tool, shownData }: ToolUnderTerms, { caller }: CallerPorts) =>
    mayMove(terms.policy, { ...tool.spec, shownData }, caller)
      ? PASSED
      : failCall("data_not_allowed"),
} as const;
