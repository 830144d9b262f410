import type { ApprovalToken } from "../protocol/approval.ts";

/**
 * Signs what one person's approval is worth, and reads it back.
 * Contract: `read` answers undefined for whatever this deployment did not sign; it does not look at times.
 */
export interface ApprovalSigner {
  sign(token: ApprovalToken): Promise<string>;
  read(signed: string): Promise<ApprovalToken | undefined>;
}
