import * as v from "valibot";
import { describeDay, moneyOf, type DaySpent, type Money } from "../../telemetry/metrics/spent.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { readQuery } from "../request/list-query.ts";
import { problem } from "../request/problem.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 92;

/** A day of the calendar: `2026-11-28`. */
const day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\d$/),
  v.check((text) => dayOf(Date.parse(text)) === text, "a day of the calendar"),
);
export const query = v.strictObject({ fromDay: v.optional(day), toDay: v.optional(day) });

/** What the runs of a tenant used. */
export interface UsageReport {
  readonly fromDay: string;
  readonly toDay: string;
  /** Of all days. */
  readonly cost: readonly Money[];
  /** Days with use, the newest first. */
  readonly days: readonly DaySpent[];
}

/** `GET /v1/usage`: what the runs of the tenant used, by day, assistant, model and tool. */
export async function getUsage({
  request,
  principal,
  services,
}: AuthorisedRequest): Promise<Response> {
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const { toDay: to = dayOf(services.clock.nowMs()) } = read.value;
  const { fromDay: from = dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS) } = read.value;
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (count < 1 || count > MAX_DAYS) {
    const detail = `fromDay is at most ${MAX_DAYS - 1} days before toDay. Correct the days.`;
    return problem("query_invalid", { detail });
  }
  const spent = await services.spending(principal.tenantId, { from, to });
  const cost = moneyOf(spent.flatMap((one) => Object.values(one.spent)));
  const report: UsageReport = { fromDay: from, toDay: to, cost, days: spent.map(describeDay) };
  return Response.json(report, { headers: { "cache-control": "no-store" } });
}

function dayOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : "";
}
