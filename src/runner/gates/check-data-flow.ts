import { failCall, failField } from "../../protocol/outcome/failures.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import { decideFlow, type FlowRefusal } from "../../protocol/policy/data-flow.ts";
import type { FlowPort } from "../flow/evidence.ts";
import { PASSED, type Gate } from "./gate.ts";
import type { PolicySubject } from "./subjects.ts";

export interface FlowPorts {
  readonly flow: FlowPort;
}

/**
 * The gate `data_flow`: holds a call against the policy's rules about where its content comes from.
 * Where they ask people, the gate passes and the approval gate asks.
 * Fails: POLICY_VIOLATION.
 */
export const checkDataFlow: Gate<PolicySubject, FlowPorts> = {
  name: "data_flow",
  check({ terms, tool, args, operation }, { flow }) {
    const evidence = flow.evidenceOf(operation, tool);
    if (!evidence) return PASSED;
    const decision = decideFlow(terms.policy.dataFlow, { tool, args }, evidence);
    return decision.kind === "pass" ? PASSED : failFlow(decision.refusal);
  },
};

/** Tells the model what would pass. The refusal repeats nothing that the model sent. */
function failFlow(refusal: FlowRefusal): Result<never, ToolFailure> {
  switch (refusal.code) {
    case "after_untrusted":
      return failCall(refusal.code);
    case "call_order":
      return failCall(refusal.code, `policy wants ${refusal.tool} to succeed in this run first`);
    case "argument_origin": {
      const { field, must } = refusal.rule;
      const { beFromResult: from, beFromPerson } = must;
      const origins = [
        ...(from ? [`a value that ${from.tool} returned in this run as ${from.field}`] : []),
        ...(beFromPerson ? ["what the user wrote in this conversation"] : []),
      ];
      return failField(field, refusal.code, `policy wants this to be ${origins.join(", or ")}`);
    }
  }
}
