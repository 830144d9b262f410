import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { Terms } from "../terms.ts";
import { failCall } from "../tool-failure.ts";
import type { GateTrail } from "./gate.ts";
import { obeyPolicy, type PolicyPorts } from "./obey-policy.ts";
import type { PolicySubject } from "./subjects.ts";

/**
 * Holds a call that obeys the pinned policy against a newer one. The call keeps its connection.
 * Fails: what `obeyPolicy` fails with; PERMISSION_DENIED when the newer policy does not grant the
 * connection of the call.
 */
export async function obeyNewerPolicy(
  ports: PolicyPorts,
  {
    connectionId,
    ...call
  }: Pick<PolicySubject, "tool" | "args" | "operation" | "connectionId" | "previewed">,
  { terms, trail }: { readonly terms: Terms; readonly trail: GateTrail },
): Promise<Result<unknown, ToolFailure>> {
  const obeyed = await obeyPolicy(ports, { ...call, terms }, trail);
  if (!obeyed.ok || obeyed.value.connectionId === connectionId) return obeyed;
  return trail.note("authorise", NOT_GRANTED);
}

const NOT_GRANTED = failCall("PERMISSION_DENIED", {
  code: "no_connection",
  message: "the connection of this call is not granted any more",
});
