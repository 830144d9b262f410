import type { LastingWish } from "../consent/lasting.ts";
import type { JsonObject } from "../json/value.ts";

/** The decision of one person about one approval request. */
export interface ApprovalDecision {
  readonly decision: "approve" | "answer" | "reject";
  readonly reason?: string;
  /** Other arguments for the call. Only with `approve`. */
  readonly arguments?: JsonObject;
  /** The consent lasts. Only with an approval of the person asked, without other arguments. */
  readonly lasting?: LastingWish;
  /** The fields of the form. Present exactly with `answer`. */
  readonly answer?: JsonObject;
  /** The decision is one of many in one bulk request. */
  readonly isBulk?: boolean;
}
