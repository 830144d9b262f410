import { failCall } from "../../protocol/outcome/failures.ts";
import { mayCall, type Caller } from "../../protocol/policy/callers.ts";
import { PASSED } from "./gate.ts";
import type { ToolUnderTerms } from "./subjects.ts";

export interface CallerPorts {
  readonly caller: Caller;
}

/**
 * The gate `caller`: checks that policy lets the caller of the run use the tool, by role, actor and
 * assistant. Fails: PERMISSION_DENIED.
 */
export const checkCaller = {
  name: "caller",
  check: ({ terms, tool }: ToolUnderTerms, { caller }: CallerPorts) =>
    mayCall(terms.policy, tool, caller) ? PASSED : failCall("caller_not_allowed"),
} as const;
