import { beforeAll, describe, expect, test } from "vitest";
import type { PromptHistoryEntry } from "../../src/protocol/audit/prompt-history.ts";
import { askAudit, readAudit, recorded, recordsOf } from "../shared/audit-pages.ts";
import { CANARY } from "../workers/lab-leaks.ts";
import { page } from "../workers/lab-tools.ts";
import { refusalOf, tellOutcome, untilState } from "../shared/run-object.ts";
import { tenantRows } from "../shared/tenant-notices.ts";
import { chat, putConnection, runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const PASSED = [
  "lookup",
  "still_wanted",
  "policy",
  "caller",
  "data",
  "parse",
  "arguments",
  "rules",
  "authorise",
  "argument_rules",
  "data_flow",
  "ceilings",
];
const READY = [
  ...PASSED,
  "connection",
  "state",
  "history",
  "hooks",
  "approval",
  "budget",
  "idempotency",
];

test("a run leaves who, what, on which grounds and with what outcome", async () => {
  const [started, call, ended] = await recorded({ name: "lab__pay", args: '{"what":"rent"}' });
  const who = { actorId: "user:archive", runId: started?.runId };
  const policy = { policyRevision: 1, policyHash: expect.stringMatching(/^sha256:/) };
  expect(started).toEqual({
    action: "run.started",
    at: expect.any(String),
    ...who,
    assistantId: "default",
    assistantHash: expect.stringMatching(/^sha256:/),
  });
  expect(call).toEqual({
    action: "call.ended",
    at: expect.any(String),
    ...who,
    ...policy,
    invocationId: "inv_1",
    toolId: "lab__pay",
    toolVersion: "1.0.0",
    wrapperVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    payloadHash: expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/),
    gates: { passed: [...READY, "execute", "output"] },
    outcome: "SUCCESS",
    durationMs: expect.any(Number),
    input: { what: "rent" },
    result: { done: "rent" },
  });
  expect(ended).toMatchObject({ action: "run.ended", decision: "stop", ...who, ...policy });
});

describe("a call that was ended names the gate that ended it:", () => {
  test.each<[string, string, string, readonly string[]]>([
    ["lab__nowhere", "{}", "lookup", []],
    ["lab__delete_all", "{}", "policy", ["lookup", "still_wanted"]],
    ["core__calculate", "{", "parse", ["lookup", "still_wanted", "policy", "caller", "data"]],
    [
      "core__calculate",
      '{"expression":7}',
      "arguments",
      ["lookup", "still_wanted", "policy", "caller", "data", "parse"],
    ],
    ["lab__write_note", '{"text":"a","to":"eve"}', "argument_rules", PASSED.slice(0, -3)],
    ["lab__call_service", "{}", "authorise", PASSED.slice(0, -4)],
    ["lab__leak", '{"how":"throw"}', "execute", READY],
  ])("%s with %s by %s", async (name, args, refusedBy, passed) => {
    const entries = await recorded({ name, args });
    const call = entries.find(({ action }) => action === "call.ended");
    expect(call?.gates).toEqual({ passed, refusedBy });
  });
});

test("an operator's outcome is recorded with the operator's id", async () => {
  const pay = { name: "lab__pay", args: '{"what":"fine","afterwards":"break"}' };
  const response = await chat([{ calls: [pay] }], "archive");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" }, "archive");
  await tellOutcome(runId, { body: { outcome: "committed" }, caller: "archive" });
  await response.text();
  const all = await recordsOf(runId);
  // Whether operators heard of it before the report is a matter of a second.
  const entries = all.filter(({ action }) => action !== "escalation.opened");
  expect(entries.map(({ action }) => action)).toEqual([
    "run.started",
    "outcome.resolved",
    "call.ended",
    "run.ended",
  ]);
  expect(entries[1]).toMatchObject({
    actorId: "user:archive",
    decision: "committed",
    toolId: "lab__pay",
    invocationId: "inv_1",
  });
});

test("what is done to policy and connections is recorded, and nothing of what is in them", async () => {
  const token = "tok-of-the-service-51ab";
  await putConnection("service", { kind: "bearer", token }, "archive");
  await send("/v1/connections/service", { caller: "archive", method: "DELETE" });
  const { records } = await readAudit("?limit=100&action=connection.stored");
  expect(records[0]?.entry).toEqual({
    action: "connection.stored",
    at: expect.any(String),
    actorId: "user:archive",
    connectionId: "service",
  });
  expect((await readAudit("?action=connection.removed")).records.length).toBe(1);
  expect((await readAudit("?action=policy.changed")).records[0]?.entry).toMatchObject({
    actorId: "user:archive",
    policyRevision: 1,
  });
  expect(JSON.stringify(await tenantRows("archive", "SELECT entry FROM audit"))).not.toContain(
    token,
  );
});

describe("a secret", () => {
  const SECRET = "sk-canary-4f9a8b7c6d5e";

  test("in arguments, output, error, title or name is in no sink of the tenant", async () => {
    page.text = `the key is ${SECRET}`;
    await recorded(
      { name: "lab__read_page", args: `{"url":"https://u:${SECRET}@x.test"}` },
      { name: "lab__write_note", args: `{"text":"${SECRET}"}` },
      { name: "lab__leak", args: '{"how":"throw"}' },
      { name: "lab__leak", args: '{"how":"output"}' },
      { name: "core__generate_title", args: `{"title":"${SECRET}"}` },
      { name: SECRET, args: "{}" },
      { name: "core__calculate", args: `{"expression":"${SECRET}"}` },
      { name: "core__calculate", args: `{"${SECRET}":1}` },
    );
    page.text = "An ordinary page.";
    const sinks = [
      await tenantRows("archive", "SELECT * FROM audit"),
      await tenantRows("archive", "SELECT * FROM runs"),
      await (await askAudit("?format=jsonl")).text(),
      await (await askAudit("?format=jsonl&view=prompt_history")).text(),
      await (await send("/v1/runs?limit=100", { caller: "archive" })).text(),
    ];
    for (const sink of sinks) {
      const text = JSON.stringify(sink);
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(CANARY);
    }
  });
});

test("the prompt history tells each call: input, result, duration and status", async () => {
  const entries = await recorded(
    { name: "lab__pay", args: '{"what":"tax"}' },
    { name: "lab__leak", args: '{"how":"throw"}' },
  );
  const runId = entries[0]?.runId;
  const response = await askAudit(`?view=prompt_history&run=${runId}`);
  const { history } = await response.json<{ history: readonly PromptHistoryEntry[] }>();
  const common = {
    projectId: null,
    aiProvider: "tool_executor",
    aiModel: "n/a",
    durationMs: expect.any(Number),
    at: expect.any(String),
    runId,
  };
  const by = (invocationId: string): object => ({
    actorId: "user:archive",
    runId,
    invocationId,
    toolVersion: "1.0.0",
  });
  expect(history).toEqual([
    {
      promptType: "tool:lab__pay",
      promptTemplate: "Pays somebody.",
      promptInput: '{"what":"tax"}',
      promptContext: { context: by("inv_1"), mutationType: "state_change" },
      response: '{"done":"tax"}',
      status: "completed",
      ...common,
    },
    {
      promptType: "tool:lab__leak",
      promptTemplate: expect.stringMatching(/\S/),
      promptInput: expect.any(String),
      promptContext: { context: by("inv_2"), mutationType: expect.any(String) },
      response: null,
      status: "failed",
      error: expect.stringMatching(/^[A-Z_]+: \w+$/),
      ...common,
    },
  ]);
});

test.each([
  "?action=x",
  "?view=all",
  "?format=csv",
  "?view=prompt_history&action=run.ended",
  "?limit=1e9",
  "?run=",
  "?seq=1",
])("refuses %s", async (query) => {
  expect(await refusalOf(await askAudit(query))).toEqual([400, "query_invalid"]);
});

test("needs its scope, which no other gives", async () => {
  expect(await refusalOf(await askAudit("", "lab"))).toEqual([403, "insufficient_scope"]);
});
