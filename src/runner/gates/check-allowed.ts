import { failCall } from "../../protocol/outcome/failures.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import { isAllowed } from "../../protocol/policy/decide.ts";
import { checkCaller, type CallerPorts } from "./check-caller.ts";
import { checkData } from "./check-data.ts";
import { PASSED, type Gate, type GateTrail } from "./gate.ts";
import type { ToolUnderTerms } from "./subjects.ts";

/**
 * The gate `policy`: asks policy about the tool and its effect, whatever the catalog showed to the
 * model. A tool that needs approval passes; the gate `approval` asks for it. Fails:
 * POLICY_VIOLATION.
 */
export const policyGate = {
  name: "policy",
  check: ({ terms, tool }: ToolUnderTerms) =>
    isAllowed(terms.policy, tool) ? PASSED : failCall("not_allowed"),
} as const satisfies Gate<ToolUnderTerms>;

const GATES = [policyGate, checkCaller, checkData] as const;

/**
 * Group: denies a tool, its caller or its data, before its arguments are parsed. Fails:
 * POLICY_VIOLATION, PERMISSION_DENIED.
 */
export function checkAllowed(
  ports: CallerPorts,
  subject: ToolUnderTerms,
  trail: GateTrail,
): Result<unknown, ToolFailure> {
  for (const { name, check } of GATES) {
    const checked = trail.note(name, check(subject, ports));
    if (!checked.ok) return checked;
  }
  return PASSED;
}
