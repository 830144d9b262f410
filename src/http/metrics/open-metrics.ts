import type { MeasureRun } from "../../protocol/metric/measures.ts";
import { countedFamilies, currentFamilies } from "../../telemetry/metrics/families.ts";
import {
  formatOpenMetrics,
  OPEN_METRICS_TYPE,
} from "../../telemetry/metrics/format-open-metrics.ts";
import { measureRun } from "../../telemetry/metrics/measure-run.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { getUsage } from "./usage.ts";

/** Counts runs and serves the counts. */
export interface Metrics {
  readonly measure: MeasureRun;
  /** The runtime's own: its addresses. */
  readonly routes: unknown;
}

const MAY_READ = { scope: "metrics:read", refusesEmbedTokens: true } as const;

const ROUTES: Routes = {
  "/v1/metrics": { GET: { ...MAY_READ, handle: getMetrics } },
  "/v1/usage": { GET: { ...MAY_READ, handle: getUsage } },
};

/**
 * Counts each run of a tenant once it has ended, and serves the counts at `GET /v1/metrics` in the
 * text format of OpenMetrics; see docs/metrics.md. No metric names a person, a run or an argument.
 * `GET /v1/usage` serves what the runs used, in tokens and money.
 */
export const openMetrics: Metrics = { measure: measureRun, routes: ROUTES };

/** `GET /v1/metrics`: what the runs of the tenant counted, and what is open at the moment. */
async function getMetrics({ principal, services }: AuthorisedRequest): Promise<Response> {
  const { measures, gauges } = await services.metrics(principal.tenantId);
  const nowMs = services.clock.nowMs();
  const families = [...countedFamilies(measures), ...currentFamilies(gauges, nowMs)];
  return new Response(formatOpenMetrics(families), {
    headers: { "content-type": OPEN_METRICS_TYPE, "cache-control": "no-store" },
  });
}
