import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freePort } from "../../cli/development/free-port.ts";
import { seriesOf } from "../../src/protocol/metric/measures.ts";
import { countedFamilies, currentFamilies } from "../../src/telemetry/metrics/families.ts";
import {
  formatOpenMetrics,
  OPEN_METRICS_TYPE,
} from "../../src/telemetry/metrics/format-open-metrics.ts";
import { readOpenMetrics } from "../shared/open-metrics.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Debian's package `prometheus`. */
const PROMTOOL = "/usr/bin/promtool";
const PROMETHEUS = "/usr/bin/prometheus";
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

/** Serves the metrics as `GET /v1/metrics` does, to a scraper with this token. */
async function serveMetrics(token: string): Promise<{ port: number; close: () => void }> {
  const server = createServer(({ url, headers }, response) => {
    const isAllowed = url === "/v1/metrics" && headers.authorization === `Bearer ${token}`;
    response.writeHead(isAllowed ? 200 : 404, { "content-type": OPEN_METRICS_TYPE });
    response.end(isAllowed ? formatOpenMetrics(FAMILIES) : "");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

/** The configuration of the page, with the address and the files of a test. */
function scrapeConfig(port: number, tokenFile: string): string {
  const [, block = ""] = /```yaml\n(scrape_configs:[^`]*)```/.exec(read("docs/metrics.md")) ?? [];
  const often = "global: { scrape_interval: 200ms, scrape_timeout: 200ms }\n";
  return `${often}${block}`
    .replace("scheme: https", "scheme: http")
    .replace("/etc/prometheus/interlock-token", tokenFile)
    .replace("agents.example.com", `127.0.0.1:${port}`)
    .replace("prometheus-rules.yml", join(ROOT, "ops/prometheus-rules.yml"));
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

  test.skipIf(!existsSync(PROMETHEUS))(
    "a Prometheus with the configuration of the page scrapes the metrics and evaluates the rules",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "interlock-prometheus-"));
      const served = await serveMetrics("of-the-scraper");
      const config = join(folder, "prometheus.yml");
      writeFileSync(join(folder, "token"), "of-the-scraper");
      writeFileSync(config, scrapeConfig(served.port, join(folder, "token")));
      const at = `127.0.0.1:${await freePort()}`;
      const args = ["--config.file", config, "--storage.tsdb.path", join(folder, "data")];
      const prometheus = spawn(PROMETHEUS, [...args, `--web.listen-address=${at}`], {
        stdio: "ignore",
      });
      const ended = once(prometheus, "exit");
      const ask = async (path: string): Promise<unknown> =>
        fetch(`http://${at}/api/v1/${path}`).then(
          (answer) => answer.json(),
          () => undefined,
        );
      try {
        const counted = {
          metric: { tenant: "acme", reason: "error" },
          value: [expect.anything(), "1"],
        };
        await expect
          .poll(() => ask("query?query=interlock_runs_total"), { timeout: 30_000 })
          .toMatchObject({ data: { result: [counted] } });
        const rules = JSON.stringify(await ask("rules"));
        expect(rules.match(/"name":"interlock:[^"]+"/g)).toHaveLength(RECORDED.length);
        expect(rules).not.toMatch(/"health":"err"/);
      } finally {
        prometheus.kill();
        await ended;
        served.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    60_000,
  );

  test("costs are served in money, and durations in seconds", () => {
    const text = formatOpenMetrics(FAMILIES);
    expect(text).toContain('interlock_tool_cost_total{tool="a__b",version="1.0.0"} 1.5\n');
    expect(text).toContain('interlock_run_duration_seconds_sum{reason="error"} 0.2\n');
    expect(text).toContain('interlock_run_duration_seconds_bucket{reason="error",le="0.25"} 1\n');
  });
});
