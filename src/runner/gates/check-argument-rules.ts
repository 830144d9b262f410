import type { BoundToolRuntime } from "../../capabilities/tool-source.ts";
import { findBrokenRule } from "../../protocol/argument-rule.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { ToolPolicy } from "../../protocol/tool-policy.ts";

/** Gate 7: holds the arguments against the policy's rules. Fails: POLICY_VIOLATION. */
export function checkArgumentRules(
  policy: ToolPolicy,
  tool: BoundToolRuntime,
  args: JsonObject,
): Result<null, ToolFailure> {
  const broken = findBrokenRule(policy.argumentRules, tool.id, args);
  if (!broken) return ok(null);
  const { field, predicate, limit } = broken;
  const message = `policy demands of it: ${predicate}${limit === undefined ? "" : ` ${limit}`}`;
  return fail({
    taxonomyClass: "POLICY_VIOLATION",
    errors: [{ field, code: "argument_rule", message }],
  });
}
