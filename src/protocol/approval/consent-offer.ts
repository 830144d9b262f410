import type { LastingOffer } from "../consent/lasting.ts";
import type { ApprovalRequirement } from "./requirement.ts";
import type { CallBounds } from "./terms.ts";

/**
 * Finds what the rules of a call offer the person who consents to it: the strictest of all rules
 * that ask for consent, where each of them offers something. Undefined for a call that data-flow
 * rules ask about: no earlier consent knew what the model had read. Contract: pure.
 */
export function offerOf(
  requirements: readonly ApprovalRequirement[],
  { dataFlow }: Pick<CallBounds, "dataFlow">,
): LastingOffer | undefined {
  if (dataFlow.length > 0) return undefined;
  const [first, ...others] = requirements
    .filter(({ pattern }) => pattern === "user_consent")
    .map(({ lasting }) => lasting);
  return others.reduce((a, b) => a && b && stricterOf(a, b), first);
}

/** Takes the stricter of two offers in each respect. */
function stricterOf(a: LastingOffer, b: LastingOffer): LastingOffer {
  const sameFields = a.sameFields &&
    b.sameFields && [...new Set([...a.sameFields, ...b.sameFields])];
  return {
    within: a.within === "assistant" ? b.within : a.within,
    maxCalls: Math.min(a.maxCalls, b.maxCalls),
    maxSeconds: Math.min(a.maxSeconds, b.maxSeconds),
    ...(sameFields && { sameFields }),
  };
}
