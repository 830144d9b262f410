import { beforeAll, describe, expect, test, vi } from "vitest";
import { verifyChain, type Verdict } from "../../scripts/audit/verify-chain.ts";
import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { PromptHistoryEntry } from "../../src/protocol/audit/prompt-history.ts";
import { CANARY, page } from "../workers/lab-tools.ts";
import { refusalOf, tellOutcome, untilState } from "../shared/run-object.ts";
import { auditNotice, tenantOf, tenantRows } from "../shared/tenant-notices.ts";
import { chat, putConnection, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";

beforeAll(seedPolicies);

interface Page {
  readonly records: readonly AuditRecord[];
  readonly next?: string;
}
const ask = (query = "", caller: Caller = "archive"): Promise<Response> =>
  send(`/v1/audit${query}`, { caller });
async function read(query: string, caller: Caller = "archive"): Promise<Page> {
  const response = await ask(query, caller);
  if (response.status !== 200) throw new Error(await response.text());
  return response.json<Page>();
}

/** What is recorded of a run, once its end is. */
async function recordsOf(runId: string): Promise<readonly AuditEntry[]> {
  return vi.waitFor(
    async () => {
      const { records } = await read(`?run=${runId}&limit=100`);
      const entries = records.map(({ entry }) => entry);
      expect(entries.at(-1)?.action).toBe("run.ended");
      return entries;
    },
    { timeout: 20_000 },
  );
}

/** Runs calls, one step each, and answers what was recorded. */
async function recorded(...calls: readonly { name: string; args: string }[]) {
  const steps = calls.map((call) => ({ calls: [call] }));
  const response = await chat(steps, "archive");
  await response.text();
  return recordsOf(runIdOf(response));
}
const PASSED = [
  "lookup",
  "still_wanted",
  "policy",
  "parse",
  "arguments",
  "rules",
  "authorise",
  "argument_rules",
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
  expect(started).toEqual({ action: "run.started", at: expect.any(String), ...who });
  expect(call).toEqual({
    action: "call.ended",
    at: expect.any(String),
    ...who,
    ...policy,
    invocationId: "inv_1",
    toolId: "lab__pay",
    toolVersion: "1.0.0",
    wrapperVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    payloadHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    gates: { passed: [...READY, "execute", "output"] },
    outcome: "SUCCESS",
    durationMs: expect.any(Number),
    input: { what: "rent" },
    result: { done: "rent" },
  });
  expect(ended).toMatchObject({ action: "run.ended", decision: "stop", ...who, ...policy });
});

describe("a call that was ended names the gate that ended it:", () => {
  // Mutants: a gate whose answer is not noted.
  test.each<[string, string, string, readonly string[]]>([
    ["lab__nowhere", "{}", "lookup", []],
    ["lab__delete_all", "{}", "policy", ["lookup", "still_wanted"]],
    ["core__calculate", "{", "parse", ["lookup", "still_wanted", "policy"]],
    [
      "core__calculate",
      '{"expression":7}',
      "arguments",
      ["lookup", "still_wanted", "policy", "parse"],
    ],
    ["lab__write_note", '{"text":"a","to":"eve"}', "argument_rules", PASSED.slice(0, -2)],
    ["lab__call_service", "{}", "authorise", PASSED.slice(0, -3)],
    ["lab__leak", '{"how":"throw"}', "execute", READY],
  ])("%s with %s by %s", async (name, args, refusedBy, passed) => {
    const entries = await recorded({ name, args });
    const call = entries.find(({ action }) => action === "call.ended");
    expect(call?.gates).toEqual({ passed, refusedBy });
  });
});

test("an operator's word is recorded with who said it", async () => {
  const pay = { name: "lab__pay", args: '{"what":"fine","afterwards":"break"}' };
  const response = await chat([{ calls: [pay] }], "archive");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" }, "archive");
  await tellOutcome(runId, { body: { outcome: "committed" }, caller: "archive" });
  await response.text();
  const entries = await recordsOf(runId);
  expect(entries.map(({ action }) => action)).toEqual([
    "run.started",
    "outcome.settled",
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
  const { records } = await read("?limit=100&action=connection.stored");
  expect(records[0]?.entry).toEqual({
    action: "connection.stored",
    at: expect.any(String),
    actorId: "user:archive",
    connectionId: "service",
  });
  expect((await read("?action=connection.removed")).records.length).toBe(1);
  expect((await read("?action=policy.changed")).records[0]?.entry).toMatchObject({
    actorId: "user:archive",
    policyRevision: 1,
  });
  expect(JSON.stringify(await tenantRows("archive", "SELECT entry FROM audit"))).not.toContain(
    token,
  );
});

describe("a secret", () => {
  const SECRET = "sk-canary-4f9a8b7c6d5e";

  // Mutants: see clean-records; an audit that takes arguments or output before redaction.
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
      await (await ask("?format=jsonl")).text(),
      await (await ask("?format=jsonl&view=prompt_history")).text(),
      await (await send("/v1/runs?limit=100", { caller: "archive" })).text(),
    ];
    for (const sink of sinks) {
      const text = JSON.stringify(sink);
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(CANARY);
    }
  });
});

describe("pages", () => {
  test("are oldest first, follow each other without gaps, and name the head", async () => {
    await recorded({ name: "core__get_current_time", args: "{}" });
    const seqs: number[] = [];
    let cursor = "";
    let head: string | null = null;
    let last: AuditRecord | undefined;
    for (let turn = 0; turn < 200; turn++) {
      const response = await ask(`?limit=3${cursor}`);
      head = response.headers.get("x-audit-head");
      const { records, next } = await response.json<Page>();
      seqs.push(...records.map(({ seq }) => seq));
      last = records.at(-1) ?? last;
      if (next === undefined) break;
      cursor = `&cursor=${next}`;
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(head).toBe(last?.hash);
  });

  test("are those of a time, a run or an action", async () => {
    const before = new Date().toISOString();
    const entries = await recorded({ name: "core__get_current_time", args: "{}" });
    const runId = entries[0]?.runId;
    const after = new Date(Date.now() + 1_000).toISOString();
    const { records } = await read(`?from=${before}&to=${after}&run=${runId}`);
    expect(records.length).toBe(3);
    expect((await read(`?to=${before}&run=${runId}`)).records).toEqual([]);
    expect((await read(`?action=call.ended&run=${runId}`)).records.length).toBe(1);
  });

  // Mutant: a query over the whole log for a filter that nothing fits.
  test("look at a bounded stretch of the log, and go on from where they stopped", async () => {
    const batch = (from: number) =>
      Array.from({ length: 2_000 }, (_, index) => auditNotice(from + index));
    for (const from of [1, 2_001, 4_001]) {
      await tenantOf("elsewhere").receive("run_long" as never, batch(from));
    }
    const found = { action: "run.ended" } as const;
    await tenantOf("elsewhere").receive("run_long" as never, [auditNotice(6_001, found)]);
    const first = await read("?action=run.ended", "stranger");
    expect([first.records, typeof first.next]).toEqual([[], "string"]);
    const second = await read(`?action=run.ended&cursor=${first.next}`, "stranger");
    expect([second.records.length, second.next]).toEqual([1, undefined]);
    const lines = (await (await ask("?format=jsonl&action=run.ended", "stranger")).text()).trim();
    expect(lines.split("\n").length).toBe(1);
  });

  test("are of no use to another tenant, nor with another filter", async () => {
    const { next } = await read("?limit=1");
    for (const [query, caller] of [
      ["?", "stranger"],
      ["?action=run.ended&", "archive"],
      ["?view=prompt_history&", "archive"],
    ] as const) {
      const answer = await ask(`${query}cursor=${next}`, caller);
      expect(await refusalOf(answer)).toEqual([400, "cursor_invalid"]);
    }
  });
});

describe("another tenant", () => {
  test("finds nothing under a foreign run id, exactly as under one that never was", async () => {
    const entries = await recorded({ name: "core__get_current_time", args: "{}" });
    const answers = [
      await ask(`?run=${entries[0]?.runId}`, "stranger"),
      await ask(`?run=run_${"0".repeat(32)}_${"0".repeat(32)}`, "stranger"),
      await ask("?run=nonsense", "stranger"),
    ];
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(bodies).toEqual(bodies.map(() => '{"records":[]}'));
    expect(new Set(answers.map(({ headers }) => headers.get("x-audit-head"))).size).toBe(1);
  });

  test("has a chain of its own", async () => {
    expect((await read("?limit=1", "stranger")).records[0]?.seq).toBe(1);
  });
});

async function verdictOf(text: string, head?: string): Promise<Verdict> {
  async function* lines(): AsyncGenerator<string> {
    yield* text.trimEnd().split("\n");
  }
  return verifyChain(lines(), { head });
}

describe("an export", () => {
  test("is a whole chain that the verifier accepts, and that betrays a planted change", async () => {
    const response = await ask("?format=jsonl");
    const head = response.headers.get("x-audit-head") ?? "";
    const text = await response.text();
    expect(response.headers.get("content-type")).toBe("application/jsonl");
    expect(await verdictOf(text, head)).toMatchObject({ kind: "whole" });
    const planted = text.replace("user:archive", "user:arch1ve");
    expect(await verdictOf(planted, head)).toMatchObject({ kind: "broken" });
  });

  // Mutant: an export that reads on what is recorded meanwhile.
  test("ends where the chain ended when it began, over many pages", async () => {
    const response = await ask("?format=jsonl", "stranger");
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader?.read())?.value, { stream: true });
    await tenantOf("elsewhere").receive("run_later" as never, [auditNotice(1)]);
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += decoder.decode(part.value, { stream: true });
    }
    const head = response.headers.get("x-audit-head") ?? "";
    const verdict = await verdictOf(text, head);
    expect(verdict).toMatchObject({ kind: "whole" });
    expect(verdict).toHaveProperty("count", text.trimEnd().split("\n").length - 1);
  });

  test("of an empty log is its end line", async () => {
    const answer = await ask("?format=jsonl", "hollow");
    expect(await verdictOf(await answer.text())).toMatchObject({ kind: "whole", count: 0 });
  });

  test("has no pages", async () => {
    for (const query of ["limit=5", "cursor=abc"]) {
      const answer = await ask(`?format=jsonl&${query}`);
      expect(await refusalOf(answer)).toEqual([400, "query_invalid"]);
    }
  });

  test("whose reader leaves reads no further", async () => {
    const response = await ask("?format=jsonl", "stranger");
    const reader = response.body?.getReader();
    await reader?.read();
    await expect(reader?.cancel()).resolves.toBeUndefined();
  });
});

test("the prompt history tells each call: input, result, duration and status", async () => {
  const entries = await recorded(
    { name: "lab__pay", args: '{"what":"tax"}' },
    { name: "lab__leak", args: '{"how":"throw"}' },
  );
  const runId = entries[0]?.runId;
  const response = await ask(`?view=prompt_history&run=${runId}`);
  const { history } = await response.json<{ history: readonly PromptHistoryEntry[] }>();
  const common = { durationMs: expect.any(Number), at: expect.any(String), runId };
  expect(history).toEqual([
    {
      promptType: "tool:lab__pay",
      promptInput: '{"what":"tax"}',
      response: '{"done":"tax"}',
      status: "completed",
      ...common,
    },
    {
      promptType: "tool:lab__leak",
      promptInput: expect.any(String),
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
  expect(await refusalOf(await ask(query))).toEqual([400, "query_invalid"]);
});

test("needs its scope, which no other gives", async () => {
  expect(await refusalOf(await ask("", "lab"))).toEqual([403, "insufficient_scope"]);
});
