import type { BoundToolRuntime } from "../../capabilities/tool-source.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { decide, type ToolPolicy } from "../../protocol/tool-policy.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Gate 9: lets a call pass that policy and contract leave to the model alone. Until a person can be
 * asked, every other one is refused. Fails: CONFIRMATION_MISSING.
 */
export function checkApproval(
  policy: ToolPolicy,
  tool: BoundToolRuntime,
): Result<null, ToolFailure> {
  return decide(policy, tool) === "allow"
    ? ok(null)
    : failCall("CONFIRMATION_MISSING", {
        code: "approval_required",
        message: "a person has to approve this call, and nobody can be asked",
      });
}
