import { hashText } from "../protocol/canonical-hash.ts";
import type { ConfirmationPacket } from "../protocol/confirmation-packet.ts";
import { withheldPaths } from "../protocol/withheld-paths.ts";
import type { CallInHand } from "./call-in-hand.ts";
import type { Invocation } from "./invocation.ts";
import type { Accepted } from "./accepted.ts";

/** A call that people are asked about. */
interface Asked {
  readonly accepted: Accepted;
  readonly invocation: Invocation;
  readonly expiresAtMs: number;
}

/** Words a call for the people who are asked about it. Contract: never throws. */
export async function buildPacket(
  { tool, context }: CallInHand,
  { accepted: { args, shown }, invocation: { scope }, expiresAtMs }: Asked,
): Promise<ConfirmationPacket> {
  return {
    actionName: { title: tool.id, tool: tool.id, version: tool.version },
    consequence: "The tool runs with these arguments.",
    arguments: { shown, withheld: withheldPaths(args, shown) },
    beforeState: null,
    afterState: null,
    idempotencyFingerprint: await hashText(scope.idempotencyKey),
    riskClass: tool.sideEffectClass,
    expiresAt: new Date(expiresAtMs).toISOString(),
    compensation: { reversible: false, tool: null, note: "" },
    rejectionPath: "The tool does not run; the model is told and may go on without it.",
    traceId: context.runId,
  };
}
