import type { Clock } from "../../capabilities/system.ts";

/** Parses `Retry-After`, seconds or an HTTP date. Unit: seconds; 0 for a date in the past. */
export function parseRetryAfter(value: string | null, clock: Clock): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const dateMs = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - clock.nowMs()) / 1000));
}
