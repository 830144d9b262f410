import type { ApprovalRecord } from "../approval/record.ts";
import type { ToolInvocationRecord } from "../invocation/record.ts";
import type { ModelPrices } from "../model/declaration.ts";
import type { Usage } from "../model/usage.ts";
import type { DoneReason } from "../run/event.ts";

/**
 * What was counted, by series and counter: `{"tool\nget_time\n1.0.0": {"SUCCESS": 2}}`. A series is
 * the name of its group and the values of its labels, one a line. Counts only grow.
 */
export type Measures = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A run that has ended, as far as it is measured. */
export interface MeasuredRun {
  readonly reason: DoneReason;
  readonly durationMs: number;
  readonly model: string;
  readonly modelCalls: number;
  /** Of all models. */
  readonly usage: Usage;
  /** What models other than `model` used. */
  readonly usedByOthers: Readonly<Record<string, Usage>>;
  /** Absent in a run of one direct call. */
  readonly assistantId?: string | undefined;
  readonly calls: readonly ToolInvocationRecord[];
  readonly approvals: readonly Pick<ApprovalRecord, "invocation" | "status">[];
  /** How often the ledger turned a call away because its operation has another payload. */
  readonly mismatches: number;
  /** Tells whether a tool of the deployment changes something; undefined for other names. */
  readonly mutates: (toolId: string) => boolean | undefined;
  /** The currency in which a tool of the deployment costs money, ISO 4217. */
  readonly currencyOf: (toolId: string) => string | undefined;
  /** What a model costs; undefined where its declaration has no prices. */
  readonly pricesOf: (model: string) => ModelPrices | undefined;
}

/** What a run adds to the numbers of its tenant. */
export interface MeasuredNumbers {
  readonly measures: Measures;
  /** Series `model` and `tool` by assistant, with tokens and money: see telemetry/metrics/spent. */
  readonly spent: Measures;
}

/** Counts a run once it has ended. Contract: pure; linear in what the run stored. */
export type MeasureRun = (run: MeasuredRun) => MeasuredNumbers;

/** What was used on one day, UTC: the day on which the tenant's object was told. */
export interface DailySpending {
  /** `2026-11-28`. */
  readonly day: string;
  readonly spent: Measures;
}

/** Days, the first and the last one included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** What a tenant's object knows of its runs at this moment. */
export interface TenantGauges {
  /** Runs that have not ended, by status. */
  readonly openRuns: Readonly<Record<string, number>>;
  /** When the oldest run that does not wait for a person began. Unit: Unix milliseconds. */
  readonly oldestRunningMs?: number;
  readonly openApprovals: number;
  readonly awaitedOutcomes: number;
  readonly openEscalations: number;
  /** Since when the oldest stored record should have been deleted. */
  readonly retentionLateMs: number;
}

/** Everything that the metrics of a tenant are made of. */
export interface TenantMetrics {
  readonly measures: Measures;
  readonly gauges: TenantGauges;
}

/** Names the series of a group with these values of its labels. */
export function seriesOf(group: string, ...labels: readonly string[]): string {
  return [group, ...labels.map((label) => label.replaceAll("\n", " "))].join("\n");
}

/** Reads the group of a series, and the values of its labels. */
export function readSeries(series: string): { readonly group: string; readonly labels: string[] } {
  const [group = "", ...labels] = series.split("\n");
  return { group, labels };
}

/**
 * Adds measures together. Contract: pure; linear in what is added; more than `maxSeries` series
 * count as one of their group, with the label values `other`.
 */
export function addMeasures(
  all: readonly Measures[],
  maxSeries = Number.MAX_SAFE_INTEGER,
): Measures {
  const sums = new Map<string, Map<string, number>>();
  for (const [series, counters] of all.flatMap((measures) => Object.entries(measures))) {
    const isKnown = sums.has(series) || sums.size < maxSeries;
    const { group, labels } = readSeries(series);
    const key = isKnown ? series : seriesOf(group, ...labels.map(() => "other"));
    const sum = sums.get(key) ?? new Map<string, number>();
    sums.set(key, sum);
    for (const [counter, by] of Object.entries(counters)) {
      sum.set(counter, (sum.get(counter) ?? 0) + by);
    }
  }
  return Object.fromEntries([...sums].map(([series, sum]) => [series, Object.fromEntries(sum)]));
}
