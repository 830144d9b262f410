import type { PolicyStore } from "../capabilities/policy.ts";
import type { BoundToolRuntime, ToolSourcePort } from "../capabilities/tool.ts";
import type { ApprovalRecord } from "../protocol/approval/record.ts";
import { hashOf } from "../protocol/json/canonical-hash.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { ToolCall } from "../protocol/tool/call.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import { narrowPolicy } from "../protocol/policy/narrow.ts";
import { withheldPaths } from "../protocol/json/withheld-paths.ts";
import { checkArgumentRules } from "../runner/gates/check-argument-rules.ts";
import { checkArguments } from "../runner/gates/check-arguments.ts";
import { checkRules } from "../runner/gates/check-rules.ts";
import { parseCall } from "../runner/gates/parse-call.ts";
import { failCall } from "../runner/tool-failure.ts";
import { restoreWithheld } from "./restore-withheld.ts";

/** What a review stands on. */
export interface ReviewPorts {
  readonly source: ToolSourcePort;
  readonly policies: Pick<PolicyStore, "read">;
  readonly claim: Pick<RunClaim, "principal" | "toolIds">;
  /** The policy that the run pinned. */
  readonly pin: PolicyPin | undefined;
}

/** Arguments that may take the place of others. */
export interface ReviewedEdit {
  /** JSON of the whole arguments, what redaction withheld from the editor included. */
  readonly argumentsText: string;
  readonly payloadHash: string;
}

/**
 * Tells whether arguments that a person wants instead would pass the gates that look at arguments, so
 * that a mistake is answered to them and ends nothing. Everything else is asked when the call is made.
 * Fails: what those gates answer; POLICY_VIOLATION where the policy cannot be read; STALE_STATE for a call
 * that has begun, which is bound to its arguments.
 */
export async function reviewEdit(
  ports: ReviewPorts,
  { call, record }: { readonly call: ToolInvocationRecord; readonly record: ApprovalRecord },
  edited: JsonObject,
): Promise<Result<ReviewedEdit, ToolFailure>> {
  if (call.dispatches > 0 || call.binding) return BEGUN;
  const tool = ports.source.getBoundTool(record.toolId, record.toolVersion);
  const loaded =
    ports.pin && (await ports.policies.read(ports.claim.principal.tenantId, ports.pin));
  if (!tool || !loaded) return GONE;
  const original = readArguments(tool, call);
  if (!original.ok) return original;
  const { withheld } = record.packet.arguments;
  const whole = restoreWithheld(edited, original.value, withheld);
  if (!whole.ok) return whole;
  const argumentsText = JSON.stringify(whole.value);
  const valid = readArguments(tool, { ...call, argumentsText, truncated: false });
  if (!valid.ok) return valid;
  const hidden = withheldPaths(valid.value, tool.redactArgs(valid.value));
  const added = hidden.find((pointer) => !withheld.includes(pointer));
  if (added !== undefined) return refuseHidden(added);
  const policy = narrowPolicy(loaded.policy, ports.claim.toolIds);
  const ruled = checkArgumentRules(policy, tool, valid.value);
  if (!ruled.ok) return ruled;
  return ok({ argumentsText, payloadHash: await hashOf(valid.value) });
}

const BEGUN = failCall("STALE_STATE", {
  code: "begun",
  message: "the call has begun with these arguments; approve it as it is, or reject it",
});
const GONE = failCall("POLICY_VIOLATION", {
  code: "tool_gone",
  message: "the tool or its policy is not there any more",
});

/** Threat: an editor whose own vote counts adds what those who decide after them are not shown. */
function refuseHidden(field: string): Result<never, ToolFailure> {
  const message = "would hold what nobody else could see";
  return fail({
    taxonomyClass: "SEMANTIC_INVALIDITY",
    errors: [{ field, code: "withheld_field", message }],
  });
}

function readArguments(tool: BoundToolRuntime, call: ToolCall): Result<JsonObject, ToolFailure> {
  const parsed = parseCall(call, tool);
  if (!parsed.ok) return parsed;
  const valid = checkArguments(tool, parsed.value);
  if (!valid.ok) return valid;
  const ruled = checkRules(tool, valid.value);
  return ruled.ok ? valid : ruled;
}
