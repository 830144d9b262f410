import { beforeAll, expect, test } from "vitest";
import { cancel, untilState } from "../shared/run-object.ts";
import { script } from "../fakes/scripted-model.ts";
import {
  chat,
  chunksOf,
  govern,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type WireChunk,
} from "../shared/worker.ts";

beforeAll(seedPolicies);

const call = (args: string, id?: string): { name: string; args: string; id?: string } => ({
  name: "core__get_current_time",
  args,
  ...(id !== undefined && { id }),
});
const TOKYO = '{"timeZone":"Asia/Tokyo"}';
const results = (chunks: readonly WireChunk[]): readonly unknown[] =>
  chunks.filter(({ type }) => type === "result").map(({ result }) => result);

test("invalid JSON arguments become an observation the model corrects", async () => {
  const chunks = await chunksOf(
    await chat([
      { calls: [call('{"timeZone":"Asia/Tok')] },
      { calls: [call(TOKYO)] },
      { text: ["ok"] },
    ]),
  );
  expect(results(chunks)).toMatchObject([
    {
      status: { taxonomy_class: "SYNTACTIC_PARSE_FAIL", repairable: true },
      result_payload: { errors: [{ code: "not_json" }] },
    },
    { status: { taxonomy_class: "SUCCESS" } },
  ]);
  expect(JSON.stringify(chunks)).not.toContain("Asia/Tok\\");
});

test("keeps a call's id from proposal to result", async () => {
  const chunks = await chunksOf(await chat([{ calls: [call(TOKYO, "call_kept")] }]));
  const started = chunks.find(({ type }) => type === "part-start");
  expect(started).toMatchObject({ part: { toolCallId: "call_kept" } });
  expect(results(chunks)).toMatchObject([{ tool_identity: { call_id: "call_kept" } }]);
});

test("an id that a provider repeats is made unique", async () => {
  const same = { calls: [call(TOKYO, "call_0")] };
  const response = await chat([same, same, same, { text: ["ok"] }]);
  const runId = runIdOf(response);
  await response.text();
  const ids = (await stateOf(runId)).toolCalls.map(({ toolCallId }) => toolCallId);
  expect(new Set(ids).size).toBe(3);
});

test("results come in the order asked, each on its own part", async () => {
  const chunks = await chunksOf(
    await chat([{ calls: [call(TOKYO, "a"), call('{"timeZone":"UTC"}', "b")] }]),
  );
  expect(results(chunks)).toMatchObject([
    { tool_identity: { call_id: "a" } },
    { tool_identity: { call_id: "b" } },
  ]);
  const opened = chunks.filter(({ type }) => type === "part-start").map(({ path }) => path);
  expect(opened).toEqual([[0], [1], [2]]);
});

test.each([
  ["a stop", { text: ["hi"] }, "completed", "stop"],
  ["the length limit", { text: ["hi"], finish: "length" }, "completed", "length"],
  ["a content filter", { text: ["hi"], finish: "content_filter" }, "completed", "content_filter"],
  ["a refused request", { status: 401 }, "failed", "error"],
  ["a broken connection", { text: ["hi"], breaks: true }, "failed", "error"],
])("ends exactly once after %s", async (_name, step, status, reason) => {
  const response = await chat([step]);
  const runId = runIdOf(response);
  const chunks = await chunksOf(response);
  const ends = chunks.filter(({ type }) => type === "message-finish");
  expect(ends.length).toBe(1);
  expect(chunks.at(-1)).toBe(ends[0]);
  expect(await stateOf(runId)).toMatchObject({ status, reason });
});

test("a run never executes calls of an answer that the length limit cut", async () => {
  const response = await chat([{ calls: [call(TOKYO)], finish: "length" }]);
  const chunks = await chunksOf(response);
  expect(results(chunks)).toEqual([]);
  expect(await stateOf(runIdOf(response))).toMatchObject({ reason: "length", toolCalls: [] });
});

test("a run never executes calls of an answer that broke off", async () => {
  const response = await chat([{ calls: [call(TOKYO)], breaks: true }]);
  const chunks = await chunksOf(response);
  expect(results(chunks)).toEqual([]);
  expect(await stateOf(runIdOf(response))).toMatchObject({ status: "failed", toolCalls: [] });
});

test("stops at the policy's step limit", async () => {
  const again = { calls: [call(TOKYO)] };
  const response = await chat([again, again, again], "strict");
  await response.text();
  expect(await stateOf(runIdOf(response), "strict")).toMatchObject({
    status: "completed",
    reason: "step_limit",
    steps: 2,
  });
});

test("stops at twenty steps where policy sets no limit", async () => {
  const response = await chat(Array.from({ length: 30 }, () => ({ calls: [call(TOKYO)] })));
  await response.text();
  expect(await stateOf(runIdOf(response))).toMatchObject({ reason: "step_limit", steps: 20 });
});

test.each([["bare"], ["garbled"], ["misshapen"]] as const)(
  "denies every tool to a tenant with %s policy",
  async (tenant) => {
    const chunks = await chunksOf(await chat([{ calls: [call(TOKYO)] }, { text: ["ok"] }], tenant));
    expect(results(chunks)).toMatchObject([{ status: { taxonomy_class: "POLICY_VIOLATION" } }]);
  },
);

test("asks before an effect that policy wants people to approve", async () => {
  const title = { name: "core__generate_title", args: '{"title":"Mine"}' };
  const response = await chat([{ calls: [title] }, { text: ["ok"] }], "strict");
  const runId = runIdOf(response);
  const state = await untilState(runId, { status: "waiting" }, "strict");
  expect(state.toolCalls).toMatchObject([{ state: "PENDING", attempts: 1 }]);
  expect(state).not.toHaveProperty("title");
  await cancel(runId, "strict");
});

test("a title tool sets the run's title", async () => {
  const title = { name: "core__generate_title", args: '{"title":" A call with Tokyo "}' };
  const response = await chat([{ calls: [title] }, { text: ["ok"] }]);
  const chunks = await chunksOf(response);
  expect(chunks).toContainEqual({
    path: [],
    type: "data",
    data: [{ type: "title", title: "A call with Tokyo" }],
  });
  expect(await stateOf(runIdOf(response))).toMatchObject({ title: "A call with Tokyo" });
});

test("cancel stops a run during a step, and every call of the step has a result", async () => {
  const response = await chat([{ calls: [call(TOKYO)] }, { text: ["one "], hangs: true }]);
  const runId = runIdOf(response);
  await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  const chunks = await chunksOf(response);
  const proposed = chunks.filter(
    ({ type, part }) => type === "part-start" && (part as { type: string }).type === "tool-call",
  );
  expect(results(chunks).length).toBe(proposed.length);
});

test("cancel stops a streaming run, and the stream reports it", async () => {
  const response = await chat([{ text: ["one ", "two "], hangs: true }]);
  const runId = runIdOf(response);
  const cancelled = await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  expect(await cancelled.json()).toMatchObject({ status: "cancelled", reason: "cancelled" });
  const chunks = await chunksOf(response);
  expect(chunks).toContainEqual({
    path: [],
    type: "data",
    data: [{ type: "done", reason: "cancelled" }],
  });
  expect(chunks.at(-1)).toMatchObject({ type: "message-finish", finishReason: "other" });
});

test("cancelling a run that has ended changes nothing", async () => {
  const response = await chat([{ text: ["hi"] }]);
  await response.text();
  const runId = runIdOf(response);
  const before = await stateOf(runId);
  const answer = await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  expect([answer.status, await answer.json()]).toEqual([200, before]);
});

test("a provider's error text and key reach no client", async () => {
  const response = await chat([{ status: 500 }]);
  const runId = runIdOf(response);
  const seen = (await response.text()) + JSON.stringify(await stateOf(runId));
  expect(seen).toContain("HTTP 500");
  expect(seen).not.toContain("sk-test-secret");
  expect(seen).not.toContain("provider.test");
});

test("a long answer that grows when it is stored is kept whole", async () => {
  await govern({ allowedTools: [], budgets: { maxHistoryBytes: 8 * 1024 * 1024 } });
  const first = await chat([{ text: ['\n"'.repeat(5_000)], times: 100 }], "bendable");
  const previousRunId = runIdOf(first);
  await first.text();
  expect(await stateOf(previousRunId, "bendable")).toMatchObject({ status: "completed" });
  const messages = [{ role: "user", content: script({ text: ["ok"] }) }];
  const second = await postChat({ messages, previousRunId }, "bendable");
  await second.text();
  expect(await stateOf(runIdOf(second), "bendable")).toMatchObject({ status: "completed" });
});

test("half characters in ids and arguments are made whole before anything is compared or stored", async () => {
  const title = { name: "core__generate_title", args: '{"title":"a\\ud800"}', id: "\ud800" };
  const response = await chat([{ calls: [title, call(TOKYO, "\ud801")] }, { text: ["ok"] }]);
  const runId = runIdOf(response);
  const stream = await response.text();
  const state = await stateOf(runId);
  const ids = state.toolCalls.map(({ toolCallId }) => toolCallId);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(stream).toContain(JSON.stringify(id));
  expect(state.title).toBe("a\ufffd");
  expect(state.toolCalls.map(({ outcome }) => outcome)).toEqual(["SUCCESS", "SUCCESS"]);
});

test("a very long delta is split into events that fit a row, and loses nothing", async () => {
  const long = "ü😀".repeat(60_000);
  const chunks = await chunksOf(await chat([{ text: [long] }]));
  const deltas = chunks.flatMap(({ textDelta }) =>
    typeof textDelta === "string" ? [textDelta] : [],
  );
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.join("")).toBe(long);
});
