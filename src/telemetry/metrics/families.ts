import { readSeries, type Measures, type TenantGauges } from "../../protocol/metric/measures.ts";
import type { Family, Sample } from "./format-open-metrics.ts";
import { bucketCounter, DURATION_BUCKETS, DURATION_SUM } from "./durations.ts";
import { CALL_CLASSES, TOOL_COUNTERS, type ToolCounter } from "./tool-counters.ts";

/** One series of a group, with the names of its labels. */
interface Counted {
  readonly labels: Readonly<Record<string, string>>;
  readonly counters: Readonly<Record<string, number>>;
}

/** Groups of series, and the names of their labels. */
const GROUPS = {
  run: ["reason"],
  model: ["model"],
  tool: ["tool", "version"],
  ledger: [],
  traces: [],
  outbox: [],
} as const satisfies Record<string, readonly string[]>;
type Group = keyof typeof GROUPS;

/** Tokens of a model by type; `input` holds `cached_input`, and `output` holds `reasoning`. */
const TOKEN_TYPES = ["input", "cached_input", "output", "reasoning"] as const;

/** Turns what a tenant counted into metric families. Contract: pure; linear in the series. */
export function countedFamilies(measures: Measures): readonly Family[] {
  const of = (group: Group): readonly Counted[] => seriesIn(measures, group);
  const [runs, models, tools] = [of("run"), of("model"), of("tool")];
  return [
    counter("interlock_runs", "Runs that ended, by reason.", each(runs, "runs")),
    durations("interlock_run_duration", "From the claim of a run to its end.", runs),
    counter("interlock_model_calls", "Calls of a model.", each(models, "calls")),
    counter(
      "interlock_model_failures",
      "Calls of a model that its provider did not answer.",
      each(models, "failed"),
    ),
    counter("interlock_model_tokens", "Tokens that providers billed.", tokens(models)),
    counter("interlock_tool_calls", "Calls that models or people asked for, by end.", ends(tools)),
    durations("interlock_tool_duration", "From the start of a call to its end.", tools),
    ...Object.entries(TOOL_COUNTERS).map(([name, help]) =>
      toolCounter(name as ToolCounter, help, tools),
    ),
    counter(
      "interlock_idempotency_mismatches",
      "Calls whose operation holds another payload.",
      each(of("ledger"), "mismatches"),
    ),
    counter(
      "interlock_traces_dropped",
      "Runs whose spans no collector took.",
      each(of("traces"), "dropped"),
    ),
    counter(
      "interlock_late_reports",
      "Runs that told of their end more than a minute later.",
      each(of("outbox"), "late"),
    ),
  ];
}

/** Turns what a tenant knows at this moment into metric families. */
export function currentFamilies(gauges: TenantGauges, nowMs: number): readonly Family[] {
  const { openRuns, oldestRunningMs = nowMs, openApprovals, awaitedOutcomes } = gauges;
  const age = Math.max(0, nowMs - oldestRunningMs) / 1_000;
  const byStatus = Object.entries(openRuns).map(([status, value]) => ({
    labels: { status },
    value,
  }));
  return [
    gauge("interlock_open_runs", "Runs that have not ended, by status.", byStatus),
    gauge("interlock_oldest_running_run_seconds", "Age of the oldest run that runs.", one(age)),
    gauge(
      "interlock_open_approvals",
      "Approval requests that wait for people.",
      one(openApprovals),
    ),
    gauge(
      "interlock_awaited_outcomes",
      "Unknown outcomes that wait for operators.",
      one(awaitedOutcomes),
    ),
    gauge(
      "interlock_open_escalations",
      "Escalations that nobody settled.",
      one(gauges.openEscalations),
    ),
    gauge(
      "interlock_retention_late_seconds",
      "How long the oldest stored record has been kept too long.",
      one(gauges.retentionLateMs / 1_000),
    ),
  ];
}

function seriesIn(measures: Measures, wanted: Group): readonly Counted[] {
  return Object.entries(measures).flatMap(([series, counters]) => {
    const { group, labels } = readSeries(series);
    if (group !== wanted) return [];
    const named = GROUPS[wanted].map((name, at) => [name, labels[at] ?? ""] as const);
    return [{ labels: Object.fromEntries(named), counters }];
  });
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return {
    name,
    type: "counter",
    help,
    samples: samples.map((one) => ({ suffix: "_total", ...one })),
  };
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: "gauge", help, samples };
}

function one(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}

function each(series: readonly Counted[], name: string): readonly Sample[] {
  return series.map(({ labels, counters }) => ({ labels, value: counters[name] ?? 0 }));
}

function tokens(models: readonly Counted[]): readonly Sample[] {
  return models.flatMap(({ labels, counters }) =>
    TOKEN_TYPES.map((type) => ({ labels: { ...labels, type }, value: counters[type] ?? 0 })),
  );
}

/** Only the ends that a tool had, because most tools have few. */
function ends(tools: readonly Counted[]): readonly Sample[] {
  return tools.flatMap(({ labels, counters }) =>
    CALL_CLASSES.flatMap((name) => {
      const value = counters[name];
      return value === undefined ? [] : [{ labels: { ...labels, class: name }, value }];
    }),
  );
}

const MICROS = 1_000_000;

function toolCounter(name: ToolCounter, help: string, tools: readonly Counted[]): Family {
  const samples = each(tools, name);
  if (name !== "cost_micros") return counter(`interlock_tool_${name}`, help, samples);
  const inMoney = samples.map(({ labels, value }) => ({ labels, value: value / MICROS }));
  return counter(
    "interlock_tool_cost",
    "Cost of the calls, in the currency of the policy.",
    inMoney,
  );
}

/** A histogram; its buckets count what took at most `le` seconds. */
function durations(name: string, help: string, series: readonly Counted[]): Family {
  const samples = series.flatMap(({ labels, counters }) => {
    let count = 0;
    const buckets = [...DURATION_BUCKETS, Infinity].map((bound) => {
      count += counters[bucketCounter(bound * 1_000)] ?? 0;
      const le = bound === Infinity ? "+Inf" : String(bound);
      return { suffix: "_bucket", labels: { ...labels, le }, value: count };
    });
    const sum = (counters[DURATION_SUM] ?? 0) / 1_000;
    return [
      ...buckets,
      { suffix: "_count", labels, value: count },
      { suffix: "_sum", labels, value: sum },
    ];
  });
  return { name: `${name}_seconds`, type: "histogram", unit: "seconds", help, samples };
}
