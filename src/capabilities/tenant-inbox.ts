import type { RunId } from "../protocol/ids.ts";
import type { TenantNotice } from "../protocol/tenant-notice.ts";

/** A notice on its way; a run never gives a number again. */
export interface SentNotice {
  readonly seq: number;
  readonly notice: TenantNotice;
}

/**
 * Takes what a run tells the object of its tenant.
 * Contract: never throws; false when it is to be sent again. Notices come in the order of their numbers,
 * and each counts once however often it is sent.
 */
export interface TenantInbox {
  receive(runId: RunId, notices: readonly SentNotice[]): Promise<boolean>;
}
