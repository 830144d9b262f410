import type { JsonObject } from "../json/value.ts";
import type { SideEffectClass } from "../tool/effect.ts";

/**
 * What people are shown before they decide: the twelve fields of seeds/004, "Confirmation Gates", but for
 * the approvers, who are known only as they decide; see ApprovalView. Values are as they are; whoever
 * shows them makes them visible first, see visible-text.ts.
 */
export type ConfirmationPacket = {
  readonly actionName: {
    /** In the author's words, else the tool's name. */
    readonly title: string;
    readonly tool: string;
    readonly version: string;
  };
  readonly consequence: string;
  readonly arguments: {
    /** Redacted by the contract's allowlist. */
    readonly shown: JsonObject;
    /** JSON pointers to what redaction withholds. */
    readonly withheld: readonly string[];
  };
  /** Null where the contract cannot tell. */
  readonly beforeState: JsonObject | null;
  readonly afterState: JsonObject | null;
  /** `sha256:…` over the invocation's idempotency key. */
  readonly idempotencyFingerprint: string;
  readonly riskClass: SideEffectClass;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
  readonly compensation: {
    readonly reversible: boolean;
    /** The tool that undoes it. */
    readonly tool: string | null;
    readonly note: string;
  };
  readonly rejectionPath: string;
  readonly traceId: string;
};
