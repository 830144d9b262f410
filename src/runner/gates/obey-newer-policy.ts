import { failCall } from "../../protocol/outcome/failures.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isSamePin } from "../../protocol/policy/pin.ts";
import type { Terms } from "../terms.ts";
import type { GateTrail } from "./gate.ts";
import { obeyPolicy, type PolicyPorts } from "./obey-policy.ts";
import type { PolicySubject } from "./subjects.ts";

/** A call that obeys `terms`. */
export type ObeyedCall = Pick<
  PolicySubject,
  "tool" | "args" | "unanswered" | "operation" | "shownData" | "connectionId" | "previewed"
> & { readonly terms: Terms };

/**
 * Holds a call against the policy of newer terms, unless it obeys those already. The call keeps its
 * connection. Terms are the same by revision and hash. Threat: a policy that changes back has the
 * document of an earlier revision, and possibly its very object.
 * Fails: what `obeyPolicy` fails with; PERMISSION_DENIED when the newer policy does not grant the
 * connection of the call.
 */
export async function obeyNewerPolicy(
  ports: PolicyPorts,
  { connectionId, terms: obeyedTerms, ...call }: ObeyedCall,
  { terms, trail }: { readonly terms: Terms; readonly trail: GateTrail },
): Promise<Result<unknown, ToolFailure>> {
  if (obeyedTerms.pin && terms.pin && isSamePin(obeyedTerms.pin, terms.pin)) return ok(null);
  const obeyed = await obeyPolicy(ports, { ...call, terms }, trail);
  if (obeyed.ok && obeyed.value.connectionId === connectionId) return obeyed;
  const { failure } = obeyed.ok ? trail.note("authorise", NOT_GRANTED) : obeyed;
  return fail({ ...failure, ...(terms.pin && { endedBy: { who: "policy", pin: terms.pin } }) });
}

const NOT_GRANTED = failCall(
  "no_connection",
  "the connection of this call is not granted any more",
);
