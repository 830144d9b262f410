import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { command } from "../../cli/commands/export.ts";
import { freePort } from "../../cli/development/free-port.ts";
import { exportRuns, formatEvaluate } from "../../cli/evaluate/export-runs.ts";
import type { Answer, DeploymentRequest } from "../../cli/push/deployment-client.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { ProjectFolder } from "../shared/project-folder.ts";

const ok = (body: JsonObject): Answer => ({ kind: "ok", body, etag: undefined });
const refused = (status: number, code: string): Answer => ({
  kind: "refused",
  refusal: { status, code, message: "", fields: [] },
});
const ended = (runId: string): JsonObject => ({ runId, endedAt: "2026-11-28T08:00:00.000Z" });
/** A line of the log that names a tool, and its version where it has one. */
const named = (toolId: string, toolVersion?: string): string =>
  JSON.stringify({ seq: 1, entry: { toolId, toolVersion } });

/** Exports from a deployment with these answers, by the begin of a path. */
async function exportFrom(
  answers: Readonly<Record<string, Answer>>,
  { last = 100, log = [] as readonly string[] } = {},
) {
  const written = new Map<string, JsonObject>();
  const asked: string[] = [];
  const send = ({ path }: DeploymentRequest): Promise<Answer> => {
    asked.push(path);
    const found = Object.entries(answers).find(([begin]) => path.startsWith(begin));
    return Promise.resolve(found?.[1] ?? refused(404, "unknown_route"));
  };
  const write = (name: string, body: JsonObject): void => void written.set(name, body);
  async function* writeLog(): AsyncGenerator<string> {
    asked.push("the log");
    yield* log;
  }
  const lines = await exportRuns({ send, write, writeLog, progress: () => {} }, last);
  return { lines, asked, files: [...written.keys()] };
}

test("an export has what there is of each run, and counts by the reason what there is not", async () => {
  const { lines, files } = await exportFrom(
    {
      "/v1/runs/run_a/trace": ok({ runId: "run_a", notices: { arePending: false } }),
      "/v1/runs/run_a/replay": ok({ runId: "run_a", outcome: "equal" }),
      "/v1/runs/run_b/trace": ok({ runId: "run_b" }),
      "/v1/runs/run_b/replay": refused(409, "run_not_replayable"),
      "/v1/runs/run_c/trace": ok({ runId: "run_c", notices: { arePending: true } }),
      "/v1/runs/run_d/trace": refused(410, "run_expired"),
      "/v1/runs?": ok({
        runs: [ended("run_a"), ended("run_b"), ended("run_c"), { runId: "open" }, ended("run_d")],
      }),
      "/v1/tools/desk__read": ok({ contract: {} }),
      "/v1/tools/": refused(404, "tool_not_found"),
    },
    {
      // The log has older runs too, and names that a model made up.
      log: [named("desk__read", "1.0.0"), named("made_up"), named("desk__gone", "1.0.0"), "{"],
    },
  );
  expect(lines).toEqual([
    "traces: 2; without: not_reported 1, run_expired 1",
    "replays: 1; without: run_not_replayable 1",
    "contracts: 1; without: tool_not_found 1",
  ]);
  expect(files).toEqual([
    "run_a.trace.json",
    "run_a.replay.json",
    "run_b.trace.json",
    "desk__read.tool.json",
  ]);
});

test("a page of the list follows the other, up to as many runs as were asked for, and then the log", async () => {
  const { asked } = await exportFrom(
    {
      "/v1/runs?limit=50&cursor=b%2F2": ok({ runs: [ended("run_b"), ended("run_c")], next: "c" }),
      "/v1/runs?": ok({ runs: [ended("run_a")], next: "b/2" }),
    },
    { last: 2 },
  );
  expect(asked.slice(2)).toEqual([
    "/v1/runs/run_a/trace?limit=100",
    "/v1/runs/run_b/trace?limit=100",
    "the log",
  ]);
});

test("a name that leads out of the folder, or to another route, is no run and no tool", async () => {
  const hostile = ["../x", "a/b", "", "run?x", ".", "run_\u0000"];
  const { asked, files } = await exportFrom(
    {
      "/v1/runs?": ok({ runs: [...hostile, "run_a"].map((runId) => ended(runId)) }),
      "/v1/": ok({ contract: {} }),
    },
    { log: hostile.map((toolId) => named(toolId, "1.0.0")) },
  );
  const own = ["/v1/runs/run_a/trace?limit=100", "/v1/runs/run_a/replay", "the log"];
  expect(asked.slice(1)).toEqual(own);
  expect(files).toEqual(["run_a.trace.json", "run_a.replay.json"]);
});

test.each([
  ["nobody answers", { kind: "no_answer", reason: "ECONNREFUSED" }, "No answer: ECONNREFUSED"],
  ["the caller may not read", refused(403, "scope_missing"), "/v1/runs: 403 scope_missing"],
  ["the list is none", ok({ runs: "many" }), "/v1/runs: the answer is not one of Interlock"],
] satisfies (readonly [string, Answer, string])[])(
  "where %s, the export ends with the reason",
  async (_what, answer, reason) => {
    await expect(exportFrom({ "/v1/runs?": answer })).rejects.toThrow(reason);
  },
);

test("a deployment that stops answering this caller ends an export, which would lack the rest", async () => {
  const answers = {
    "/v1/runs/run_a/trace": refused(429, "rate_limited"),
    "/v1/runs?": ok({ runs: [ended("run_a")] }),
  };
  await expect(exportFrom(answers)).rejects.toThrow("/v1/runs/run_a/trace: 429 rate_limited");
});

test("the command that looks at an export names its folder and the log, and nothing that a shell obeys", () => {
  const headers = { "x-audit-head": "sha256:ab12", "x-audit-key": "AbC-_1=" };
  expect(formatEvaluate("runs/today", new Headers(headers))).toBe(
    "npx interlock evaluate --runs runs/today --head sha256:ab12 --key AbC-_1=",
  );
  const hostile = { "x-audit-head": "ab; rm -rf ~", "x-audit-key": "\u009b2J" };
  expect(formatEvaluate("Ann's runs", new Headers(hostile))).toBe(
    String.raw`npx interlock evaluate --runs 'Ann'\''s runs'`,
  );
});

test("an export is written into a new folder alone, not over a file or another export", async () => {
  for (const taken of [import.meta.filename, import.meta.dirname]) {
    await expect(command.run([taken])).rejects.toThrow(`${taken} is no empty folder.`);
  }
});

test("where the log breaks off, the export says so", async () => {
  using folder = new ProjectFolder();
  const server = createServer(({ url = "" }, response) => {
    if (url.startsWith("/v1/runs?")) return response.end(JSON.stringify({ runs: [] }));
    response.write(`${named("desk__read", "1.0.0")}\n`, () => response.destroy());
    return response;
  });
  const port = await freePort();
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const exported = command.run([`${folder.path}/runs`, "--port", String(port)]);
  await expect(exported).rejects.toThrow(/^The log broke off: .+\. Export it again\.$/);
});
