import { isJsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { readTime } from "./read-time.ts";

/** A notification that failed once at least, read from `GET /v1/notifications`. */
export interface NotificationInfo {
  readonly id: string;
  readonly type: string;
  readonly runId: string;
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly failure: string;
  /** Unit: Unix milliseconds, as of `nextMs`. */
  readonly queuedMs: number;
  /** Absent: nobody tries again unless an operator asks for it. */
  readonly nextMs?: number;
}

/** Reads one item; undefined for one that is on its way, and for any other value. Never throws. */
export function readNotificationInfo(value: JsonValue): NotificationInfo | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, type, runId, attempts, failure, queuedAt, nextAttemptAt } = value;
  const [queuedMs, nextMs] = [readTime(queuedAt), readTime(nextAttemptAt)];
  if (typeof id !== "string" || typeof type !== "string" || typeof runId !== "string") {
    return undefined;
  }
  if (typeof attempts !== "number" || typeof failure !== "string" || queuedMs === undefined) {
    return undefined;
  }
  return { id, type, runId, attempts, failure, queuedMs, ...(nextMs !== undefined && { nextMs }) };
}
