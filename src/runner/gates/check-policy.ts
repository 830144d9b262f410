import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { decide } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Gate 2: asks policy about the tool and its effect, whatever the catalog showed. A tool that needs a
 * person goes on; gate 9 asks for one. Fails: POLICY_VIOLATION.
 */
export function checkPolicy(policy: ToolPolicy, tool: BoundToolRuntime): Result<null, ToolFailure> {
  return decide(policy, tool) === "deny"
    ? failCall("POLICY_VIOLATION", {
        code: "not_allowed",
        message: "policy does not allow this tool",
      })
    : ok(null);
}
