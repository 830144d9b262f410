import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { seriesOf } from "../../src/protocol/metric/measures.ts";
import { countedFamilies, currentFamilies } from "../../src/telemetry/metrics/families.ts";
import { formatOpenMetrics } from "../../src/telemetry/metrics/format-open-metrics.ts";
import { readOpenMetrics } from "../shared/open-metrics.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const SERIES = {
  [seriesOf("run", "error")]: { runs: 1, b3: 1, ms: 200 },
  [seriesOf("model", 'quoted"\\name')]: { calls: 1, input: 2 },
  [seriesOf("tool", "a__b", "1.0.0")]: { SUCCESS: 1, cost_micros: 1_500_000 },
  [seriesOf("ledger")]: { mismatches: 1 },
};
const GAUGES = {
  openRuns: { running: 1 },
  openApprovals: 0,
  awaitedOutcomes: 0,
  openEscalations: 0,
};
const FAMILIES = [...countedFamilies(SERIES), ...currentFamilies(GAUGES, 0)];
const SAMPLES = [...readOpenMetrics(formatOpenMetrics(FAMILIES))].flatMap(([, { samples }]) =>
  [...samples].map(([sample]) => sample),
);
const RULES = read("ops/prometheus-rules.yml");
const RECORDED = [...RULES.matchAll(/record: (\S+)/g)].map(([, name = ""]) => name);

describe("docs/metrics.md and ops/prometheus-rules.yml", () => {
  test("the rules read only metrics and labels that are served, and rates that they record", () => {
    const served = new Set(SAMPLES.map((sample) => sample.replace(/\{.*/s, "")));
    const used = RULES.match(/\binterlock_\w+/g) ?? [];
    expect(used.length).toBeGreaterThan(40);
    expect([...new Set(used)].filter((name) => !served.has(name))).toEqual([]);
    const rates = RULES.match(/\binterlock:[\w:]+/g) ?? [];
    expect([...new Set(rates)].filter((name) => !RECORDED.includes(name))).toEqual([]);
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

  test("costs are served in money, and durations in seconds", () => {
    const text = formatOpenMetrics(FAMILIES);
    expect(text).toContain('interlock_tool_cost_total{tool="a__b",version="1.0.0"} 1.5\n');
    expect(text).toContain('interlock_run_duration_seconds_sum{reason="error"} 0.2\n');
    expect(text).toContain('interlock_run_duration_seconds_bucket{reason="error",le="0.25"} 1\n');
  });
});
