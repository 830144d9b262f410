import { isJsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { readTime } from "./read-time.ts";

/** A consent that lasts and still answers calls, read from `GET /v1/consents`. */
export interface ConsentInfo {
  readonly id: string;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly calls: number;
  readonly used: number;
  /** Unit: Unix milliseconds. */
  readonly untilMs: number;
  readonly isForConversation: boolean;
  /** Arguments that must be the same in each call; absent: all of them. */
  readonly sameFields?: readonly string[];
}

/** Reads one item; undefined for one that has ended, and for any other value. Never throws. */
export function readConsentInfo(value: JsonValue): ConsentInfo | undefined {
  if (!isJsonObject(value) || value["state"] !== "active") return undefined;
  const { id, toolId, toolVersion, calls, used, until, conversationId } = value;
  const untilMs = readTime(until);
  if (typeof id !== "string" || typeof toolId !== "string" || typeof toolVersion !== "string") {
    return undefined;
  }
  if (typeof calls !== "number" || typeof used !== "number" || untilMs === undefined) {
    return undefined;
  }
  const isForConversation = typeof conversationId === "string";
  const same = value["sameFields"];
  const sameFields = Array.isArray(same)
    ? same.filter((one) => typeof one === "string")
    : undefined;
  const bound = sameFields && { sameFields };
  return { id, toolId, toolVersion, calls, used, untilMs, isForConversation, ...bound };
}
