import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { recorded, recordsOf } from "../shared/audit-pages.ts";
import { stubOf } from "../shared/run-object.ts";
import { script } from "../fakes/scripted-model.ts";
import { chat, postChat, runIdOf, seedPolicies, send } from "../shared/worker.ts";
import { CANARY } from "../workers/lab-leaks.ts";

/** A line of the log, as `wrangler tail` shows it. */
interface Line {
  readonly code: string;
  readonly errorId?: string;
  readonly error?: { readonly frames: readonly string[] };
}

const printed: string[] = [];

beforeAll(seedPolicies);

beforeEach(() => {
  printed.length = 0;
  for (const method of ["log", "warn", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((text: unknown) => {
      printed.push(String(text));
    });
  }
});

afterEach(() => {
  vi.restoreAllMocks();
});

function linesOf(code: string): readonly Line[] {
  const lines = printed.map((text) => JSON.parse(text) as Line);
  return lines.filter((line) => line.code === code);
}

test("what a tool throws is logged under the id that its reader and the audit show", async () => {
  const entries = await recorded({ name: "lab__leak", args: '{"how":"throw"}' });
  const [started, call] = entries;
  const [line] = linesOf("tool_threw");
  expect(line).toMatchObject({
    level: "error",
    tenantId: "archive",
    runId: started?.runId,
    toolId: "lab__leak",
    toolVersion: "1.0.0",
    errorId: expect.stringMatching(/^err_[0-9a-f]{16}$/),
    error: { name: "Error", message: "at vault: …" },
  });
  expect(line?.error?.frames[0]).toContain("lab-leaks");
  expect(call).toMatchObject({ reason: "tool_failed", errorId: line?.errorId });
  const events = await send(`/v1/runs/${started?.runId}/events`, { caller: "archive" });
  expect(await events.text()).toContain(`the error is logged as ${line?.errorId}`);
  expect(printed.join()).not.toContain(CANARY);
});

test("an output that does not fit names its field in the log and in the audit alone", async () => {
  const [started, call] = await recorded({ name: "lab__leak", args: '{"how":"output"}' });
  const mismatch = `/done: expected boolean, got a string of ${CANARY.length} characters`;
  const about = { runId: started?.runId, toolId: "lab__leak", toolVersion: "1.0.0" };
  expect(linesOf("output_refused")).toEqual([
    { level: "error", code: "output_refused", tenantId: "archive", ...about, mismatch },
  ]);
  expect(call).toMatchObject({ reason: "invalid_output", detail: mismatch });
  const shown = ["", "/events", "/transcript"].map(async (part) => {
    const response = await send(`/v1/runs/${started?.runId}${part}`, { caller: "archive" });
    return response.text();
  });
  const all = (await Promise.all(shown)).join();
  expect(all).toContain("its output does not fit its contract");
  for (const hidden of ["/done", "got a string", CANARY]) expect(all).not.toContain(hidden);
  expect(printed.join() + JSON.stringify(call)).not.toContain(CANARY);
});

test("a provider's refusal is logged and audited in its own words, without its secrets", async () => {
  const key = "sk-abcdefghijklmnop1234";
  const response = await chat([{ status: 401, words: `Incorrect API key: ${key}` }], "archive");
  expect(await response.text()).not.toContain("Incorrect");
  const failure = { model: "scripted", reason: "upstream_status", status: 401 };
  const [line] = linesOf("model_failed");
  expect(line).toMatchObject({ level: "warn", runId: runIdOf(response), ...failure });
  const entries = await recordsOf(runIdOf(response));
  const audited = entries.find(({ action }) => action === "model.failed");
  expect(audited).toMatchObject({ actorId: "user:archive", ...failure });
  for (const text of [printed.join(), JSON.stringify(entries)]) {
    expect(text).toContain("Incorrect API key: [secret]");
    expect(text).not.toContain(key);
  }
});

test("an answer of another wire ends the run at once, and the log says how to name the model", async () => {
  const choices = [{ index: 0, delta: { content: "Hi" }, finish_reason: null }];
  const content = script({ events: [{ choices }, "[DONE]"] });
  const messages = [{ role: "user", content }];
  const response = await postChat({ model: "scripted-r", messages }, "archive");
  expect(await response.text()).toContain("upstream_wrong_wire");
  expect(printed.join()).toContain("openai:scripted-r in MODELS");
  expect(linesOf("model_failed")).toHaveLength(1);
});

test("a request that fails inside is answered with the id of its line", async () => {
  const response = await chat([{ text: ["hi"] }], "archive");
  await response.text();
  const runId = runIdOf(response);
  await runInDurableObject(stubOf(runId), (_object, { storage }) => {
    storage.sql.exec("DROP TABLE log");
  });
  await evictDurableObject(stubOf(runId));
  const failed = await send(`/v1/runs/${runId}`, { caller: "archive" });
  const { errorId, ...answer } = await failed.json<{ readonly errorId: string }>();
  expect([failed.status, answer]).toMatchObject([500, { code: "internal_error" }]);
  expect(linesOf("request_failed").map((line) => line.errorId)).toEqual([errorId]);
});

test("a run without failures prints nothing", async () => {
  await (await chat([{ text: ["hi"] }], "archive")).text();
  expect(printed).toEqual([]);
});
