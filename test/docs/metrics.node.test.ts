import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seriesOf } from "../../src/protocol/metric/measures.ts";
import { countedFamilies, currentFamilies } from "../../src/telemetry/metrics/families.ts";
import { formatOpenMetrics } from "../../src/telemetry/metrics/format-open-metrics.ts";
import { readOpenMetrics } from "../shared/open-metrics.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Debian's package `prometheus`. */
const PROMTOOL = "/usr/bin/promtool";
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const SERIES = {
  [seriesOf("run", "error")]: { runs: 1, b3: 1, ms: 200 },
  [seriesOf("model", 'quoted"\\name')]: { calls: 1, input: 2 },
  [seriesOf("tool", "a__b", "1.0.0")]: { SUCCESS: 1, cost_micros: 1_500_000 },
  [seriesOf("ledger")]: { mismatches: 1 },
  [seriesOf("outbox")]: { late: 1 },
};
const GAUGES = {
  openRuns: { running: 1 },
  openApprovals: 0,
  awaitedOutcomes: 0,
  openEscalations: 0,
  retentionLateMs: 0,
};
const FAMILIES = [...countedFamilies(SERIES), ...currentFamilies(GAUGES, 0)];
const SAMPLES = [...readOpenMetrics(formatOpenMetrics(FAMILIES))].flatMap(([, { samples }]) =>
  [...samples].map(([sample]) => sample),
);
const RULES = read("ops/prometheus-rules.yml");
const EXPRESSIONS = [...RULES.matchAll(/expr: >-\n((?: {10}.*\n)+)/g)].map(([, text = ""]) => text);
const RECORDED = [...RULES.matchAll(/record: (\S+)/g)].map(([, name = ""]) => name);

/** The labels of each metric that is served. The scrape configuration adds `tenant`. */
const LABELS = new Map(
  SAMPLES.map((sample) => {
    const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})?$/s.exec(sample) ?? [];
    const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = ""]) => label);
    return [name, new Set([...names, "tenant"])] as const;
  }),
);

/** Lists what an expression reads that is not there: a metric, a rate, a label. */
function missingIn(expression: string): readonly string[] {
  const rates = expression.match(/\binterlock:[\w:]+/g) ?? [];
  const metrics = [...expression.matchAll(/\b(interlock_\w+)(?:\{([^}]*)\})?/g)];
  const grouped = [...expression.matchAll(/\bby\s+\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(/,\s*/),
  );
  return [
    ...rates.filter((name) => !RECORDED.includes(name)),
    ...metrics.flatMap(([, name = "", selected = ""]) => {
      const known = LABELS.get(name);
      if (!known) return [name];
      const selectors = [...selected.matchAll(/(\w+)\s*=/g)].map(([, label = ""]) => label);
      return [...selectors, ...grouped].filter((label) => !known.has(label));
    }),
  ];
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

describe("docs/metrics.md, ops/prometheus-rules.yml and ops/grafana-dashboard.json", () => {
  test("the rules read only metrics and labels that are served, and rates that they record", () => {
    expect(EXPRESSIONS).toHaveLength((RULES.match(/\b(?:record|alert):/g) ?? []).length);
    expect(EXPRESSIONS.flatMap(missingIn)).toEqual([]);
    expect(missingIn('sum by (tenant, model) (interlock_tool_calls_total{colour="x"})')).toEqual([
      "colour",
      "model",
    ]);
  });

  test("the dashboard does likewise, and shows every rate", () => {
    const { panels } = JSON.parse(read("ops/grafana-dashboard.json")) as {
      readonly panels: readonly Panel[];
    };
    const targets = panels.flatMap(({ targets: read = [] }) => read);
    const expressions = targets.map(({ expr }) => expr);
    expect(expressions.flatMap(missingIn)).toEqual([]);
    expect(RECORDED.filter((rate) => !expressions.some((text) => text.includes(rate)))).toEqual([]);
    const named = targets.flatMap(({ legendFormat }) => legendFormat.match(/\w+(?=\}\})/g) ?? []);
    const isServed = (label: string): boolean =>
      [...LABELS.values()].some((labels) => labels.has(label));
    expect(named.filter((label) => !isServed(label))).toEqual([]);
  });

  test("the page names the twenty rates, and every counter, histogram and gauge", () => {
    const page = read("docs/metrics.md");
    const named = [...page.matchAll(/^\| `(interlock:\S+)`/gm)].map(([, name]) => name);
    expect(named).toEqual(RECORDED);
    expect(named).toHaveLength(20);
    const short = page.replaceAll("`...", "`interlock_tool");
    const missing = FAMILIES.map(({ name }) => name).filter((name) => {
      const [, confirmed = "none"] = /^interlock_tool_confirmation_(\w+)$/.exec(name) ?? [];
      return !short.includes(name) && !short.includes(`interlock_tool_${confirmed}\``);
    });
    expect(missing).toEqual([]);
  });

  test("each alert names its section of the runbook, and each section its alert", () => {
    const anchors = [...RULES.matchAll(/runbook: docs\/runbook\.md#(\S+)/g)].map(
      ([, name]) => name,
    );
    const headings = [...read("docs/runbook.md").matchAll(/^## (.+)$/gm)].map(([, text = ""]) =>
      text.toLowerCase().replaceAll("'", "").replaceAll(" ", "-"),
    );
    expect(anchors).toEqual(headings);
  });

  test.skipIf(!existsSync(PROMTOOL))("alerts fire when they are due, and else do not", () => {
    const told = execFileSync(PROMTOOL, ["test", "rules", join(ROOT, "ops/prometheus-tests.yml")]);
    expect(told.toString()).toContain("SUCCESS");
  });

  test("costs are served in money, and durations in seconds", () => {
    const text = formatOpenMetrics(FAMILIES);
    expect(text).toContain('interlock_tool_cost_total{tool="a__b",version="1.0.0"} 1.5\n');
    expect(text).toContain('interlock_run_duration_seconds_sum{reason="error"} 0.2\n');
    expect(text).toContain('interlock_run_duration_seconds_bucket{reason="error",le="0.25"} 1\n');
  });
});
