import type { BoundToolRuntime } from "../../capabilities/tool-source.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { decide, type ToolPolicy } from "../../protocol/tool-policy.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Gate 2: denies what policy does not allow by id and effect, whatever the catalog showed. Until a
 * person can be asked, what needs approval is denied too. Fails: POLICY_VIOLATION.
 */
export function checkPolicy(policy: ToolPolicy, tool: BoundToolRuntime): Result<null, ToolFailure> {
  return decide(policy, tool) === "allow"
    ? ok(null)
    : failCall("POLICY_VIOLATION", {
        code: "not_allowed",
        message: "policy does not allow this tool",
      });
}
