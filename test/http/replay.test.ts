import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { frozen, GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import { labHooks } from "../workers/lab-hooks.ts";
import { effects } from "../workers/lab-tools.ts";
import { written } from "../workers/lab-writes.ts";
import { finish, untilKept } from "../shared/conversations.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  REJECT,
  useApprovalLab,
} from "../shared/people.ts";
import {
  cancel,
  changeInvocation,
  changeTurns,
  crash,
  readLog,
  refusalOf,
  rowsOf,
  stubOf,
  tellOutcome,
  untilState,
} from "../shared/run-object.ts";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { invoke, read } from "../shared/invoke.ts";
import { replayOf } from "../shared/replayed-runs.ts";
import { auditOf } from "../shared/tenant-notices.ts";
import { chat, runIdOf, send, type Caller } from "../shared/worker.ts";

useApprovalLab();

const replayAs = (runId: string, caller: Caller): Promise<Response> =>
  send(`/v1/runs/${runId}/replay`, { caller, method: "POST" });

async function replayed(runId: string, caller: Caller = "archive"): Promise<unknown> {
  return (await replayAs(runId, caller)).json();
}

const hash = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);

/** Calls of every kind: read, written, refused, tried again, and with a stale state. */
const STEPS: readonly ScriptedStep[] = [
  {
    text: ["Let me ", "look"],
    calls: [
      { id: "1", name: "core__get_current_time", args: '{"timeZone":"Asia/Tokyo"}' },
      { id: "2", name: "core__calculate", args: '{"expression":"6 * 7"}' },
      { id: "3", name: "core__generate_title", args: '{"title":"A title"}' },
      { id: "4", name: "lab__write_note", args: '{"text":"hidden","to":"ann"}' },
      { id: "5", name: "lab__write_note", args: '{"text":"hidden","to":"bob"}' },
      { id: "6", name: "lab__read_page", args: '{"url":"x"}' },
    ],
  },
  { calls: [{ name: "lab__flaky", args: "{}" }] },
  {
    text: ["half \ud83d"],
    calls: [
      { name: "lab__halves", args: '{"how":"output"}' },
      { name: "lab__halves", args: '{"how":"cut"}' },
      { name: "lab__leak", args: '{"how":"throw"}' },
      { name: "lab__nowhere", args: "{" },
    ],
  },
  { calls: [{ name: "lab__revise", args: '{"revision":0,"title":"Dinner"}' }] },
  { calls: [{ name: "lab__revise", args: '{"revision":0,"title":"Dinner","late":true}' }] },
  { calls: [{ name: "lab__order", args: '{"what":"tea"}' }] },
  { text: ["That is ", "all"] },
];

async function runToEnd(steps = STEPS): Promise<string> {
  const response = await chat(steps, "archive");
  await response.text();
  return runIdOf(response);
}

const NOTE: ScriptedStep = {
  text: ["Writing"],
  calls: [{ id: "note", name: "lab__write_note", args: '{"text":"hidden","to":"ann"}' }],
};

const writeNote = (): Promise<string> => runToEnd([NOTE, { text: ["done"] }]);

test("a finished run is decided again alike, with no effect, row or record", async () => {
  effects.length = 0;
  const runId = await runToEnd();
  const stored = (): Promise<unknown> =>
    runInDurableObject(stubOf(runId), (_object, { storage }) => [
      storage.sql.databaseSize,
      storage.sql.exec("SELECT count(*) AS rows FROM log").one(),
    ]);
  await expect.poll(async () => JSON.stringify(await auditOf("archive"))).toContain("run.ended");
  const before = [[...effects], await stored(), await auditOf("archive")];
  expect(effects).toHaveLength(1);
  await crash(runId);
  const first = await replayed(runId);
  expect(first).toEqual({ runId, outcome: "equal", recorded: hash, replayed: hash });
  expect(await replayed(runId)).toEqual(first);
  expect([[...effects], await stored(), await auditOf("archive")]).toEqual(before);
});

test("a run that crashed during a model answer is decided again alike", async () => {
  const again = { text: ["whole"], calls: [{ name: "lab__flaky", args: "{}" }] };
  const half = { text: ["half"], hangs: true, once: "replay-died", later: again };
  const response = await chat([half, { text: ["done"] }], "archive");
  const runId = runIdOf(response);
  const reader = response.body?.getReader();
  await reader?.read();
  await expect
    .poll(() => rowsOf(runId, "SELECT 1 FROM events WHERE body LIKE '%text_started%'"))
    .toHaveLength(1);
  await crash(runId);
  const [after] = await Promise.all([
    send(`/v1/runs/${runId}/events`, { caller: "archive" }),
    reader?.cancel().catch(() => {}),
  ]);
  expect(await after.text()).toContain("withdrawn");
  expect(await replayed(runId)).toMatchObject({ outcome: "equal" });
});

test("a direct call is decided again alike", async () => {
  const args = { text: "hidden", to: "ann" };
  const response = await invoke("lab__write_note", args, { key: "replay", caller: "archive" });
  const { runId } = await read(response);
  expect(await replayed(runId)).toMatchObject({ outcome: "equal" });
});

test("a changed record names the first difference, and shows no argument", async () => {
  const args = (expression: string): string => JSON.stringify({ expression });
  const calls = [{ id: "sum", name: "core__calculate", args: args("417 + 1") }];
  const runId = await runToEnd([{ calls }, { text: ["done"] }]);
  await changeInvocation(runId, 1, { argumentsText: args("417 + 2") });
  const answer = await replayed(runId);
  expect(answer).toMatchObject({
    outcome: "different",
    difference: {
      step: 1,
      toolCallId: "sum",
      pointer: "/steps/0/calls/0/decided/1/started",
    },
  });
  expect(JSON.stringify(answer)).not.toContain("417 +");
});

describe("what people decided", () => {
  test("votes are verified again, and nothing moves a second time", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await decide(approvalId, "cat", APPROVE);
    await ended(runId);
    frozen.add("bakery");
    expect(await replayed(runId, "chief")).toMatchObject({ outcome: "equal" });
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("a rejection is decided alike", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", { ...REJECT, reason: "too much" });
    await ended(runId);
    expect(await replayed(runId, "chief")).toMatchObject({ outcome: "equal" });
    expect(moved).toEqual([]);
  });

  test("a forged vote is found: its call would not have run", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await decide(approvalId, "cat", APPROVE);
    await ended(runId);
    await runInDurableObject(stubOf(runId), (_object, { storage }) => {
      storage.sql.exec("UPDATE approvals SET body = replace(body, 'user:cat', 'user:eve')");
      return storage.sync();
    });
    await crash(runId);
    expect(await replayed(runId, "chief")).toMatchObject({
      outcome: "different",
      difference: { toolCallId: "call_1" },
    });
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("an edit is taken from the record, and a changed edit is a difference", async () => {
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "hello" })]);
    const edit = { ...APPROVE, arguments: { what: "hallo" } };
    expect((await decide(approvalId, "ann", edit)).status).toBe(200);
    await ended(runId);
    expect(await replayed(runId, "chief")).toMatchObject({ outcome: "equal" });
    await changeInvocation(runId, 1, { argumentsText: JSON.stringify({ what: "servus" }) });
    const answer = await replayed(runId, "chief");
    expect(answer).toMatchObject({ outcome: "different", difference: { toolCallId: "call_1" } });
    expect(JSON.stringify(answer)).not.toMatch(/hallo|servus/);
    expect(moved).toEqual(["notified: hallo"]);
  });
});

/** Decisions of people, operators and hooks: each ends its run, and answers the run's caller. */
const STORIES: Readonly<Record<string, () => Promise<readonly [runId: string, Caller]>>> = {
  "an answer to a question": async () => {
    const { runId, approvalId } = await askFor([callOf("lab__seat", { flight: "LH1" })]);
    await decide(approvalId, "ann", { decision: "answer", answer: { seat: "aisle" } });
    await ended(runId);
    return [runId, "chief"];
  },
  "a raised limit": async () => {
    const raises = {
      budgets: { maxWrites: 1, maxExternal: 1 },
      budgetRaises: { upTo: { maxWrites: 2, maxExternal: 2 } },
    };
    await changeGuildPolicy({ ...GUILD_POLICY, approvals: [], ...raises });
    const calls = ["a", "b"].map((what) => callOf("lab__archive", { what }, what));
    const { runId, approvalId } = await askFor(calls);
    await decide(approvalId, "bob", APPROVE);
    await ended(runId);
    return [runId, "chief"];
  },
  "other terms, and their votes": async () => {
    const { runId, approvalId } = await askToPay();
    const three = { tools: ["lab__transfer"], pattern: "dual_control", required: 3 };
    await changeGuildPolicy({ ...GUILD_POLICY, approvals: [three] });
    await decide(approvalId, "bob", APPROVE);
    const next = approvalId.replace(/_1$/, "_2");
    await untilState(runId, { status: "waiting", toolCalls: [{ approvalId: next }] }, "ann");
    await decide(next, "bob", REJECT);
    await ended(runId);
    return [runId, "chief"];
  },
  "the report of an operator": async () => {
    const pay = { what: "replayed", afterwards: "break" };
    const response = await chat([{ calls: [callOf("lab__pay", pay)] }, { text: ["ok"] }], "lab");
    await untilState(runIdOf(response), { status: "waiting" });
    await tellOutcome(runIdOf(response), { body: { outcome: "committed" } });
    await untilState(runIdOf(response), { status: "completed" });
    await response.body?.cancel();
    return [runIdOf(response), "lab"];
  },
  "a cancellation while people are asked": async () => {
    const { runId, response } = await askToPay();
    await cancel(runId, "ann");
    await untilState(runId, { reason: "cancelled" }, "ann");
    await response.body?.cancel();
    return [runId, "chief"];
  },
  "vetoes before a call and after one": async () => {
    const veto = { code: "house_rule", message: "not in this house" };
    labHooks.push({
      before: async ({ toolId }) => (toolId === "core__calculate" ? veto : undefined),
      after: async ({ toolId }) => (toolId === "lab__write_note" ? veto : undefined),
    });
    const sum = { id: "sum", name: "core__calculate", args: '{"expression":"1"}' };
    const runId = await runToEnd([{ calls: [sum, ...(NOTE.calls ?? [])] }, { text: ["done"] }]);
    labHooks.length = 0;
    return [runId, "archive"];
  },
};

test.each(Object.entries(STORIES))("%s: decided again alike, without effect", async (_, live) => {
  await changeGuildPolicy(GUILD_POLICY);
  const [runId, caller] = await live();
  await crash(runId);
  const before = [[...moved], [...effects], [...written]];
  expect(await replayOf(runId, caller)).toBe("equal");
  expect([moved, effects, written]).toEqual(before);
});

describe("another policy, tried on past calls", () => {
  const tried = async (policy: object, caller: Caller = "chief"): Promise<Response> =>
    send("/v1/policy/dry-run", {
      caller,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ policy, calls: 20 }),
    });
  const changedOf = async (runId: string, policy: object): Promise<readonly object[]> => {
    const answer = await tried(policy);
    expect(answer.status).toBe(200);
    const { changed } = await answer.json<{ changed: readonly { runId: string }[] }>();
    return changed.filter((one) => one.runId === runId);
  };
  const archived = async (args: object = {}): Promise<string> => {
    await changeGuildPolicy({ ...GUILD_POLICY, approvals: [] });
    const calls = [callOf("lab__archive", { what: "a", ...args })];
    const runId = runIdOf(await chat([{ calls }, { text: ["done"] }], "ann"));
    await ended(runId);
    // The list of runs learns of a run a little later.
    await expect.poll(async () => changedOf(runId, GUILD_POLICY)).toHaveLength(1);
    return runId;
  };

  test("tells from what to what a decision changes, and by which rule, without effect", async () => {
    const runId = await archived();
    await changeGuildPolicy(GUILD_POLICY);
    const before = await (await send("/v1/policy", { caller: "chief" })).text();
    const from = { decision: "allowed" };
    const asked = { toolId: "lab__archive", invocationId: "inv_1" };
    const rule = { tool: "lab__archive", field: "/what", must: { equal: "b" } };
    const allowedTools = GUILD_POLICY.allowedTools.filter((id) => id !== "lab__archive");
    expect([
      await changedOf(runId, { ...GUILD_POLICY, approvals: [] }),
      await changedOf(runId, GUILD_POLICY),
      await changedOf(runId, { ...GUILD_POLICY, argumentRules: [rule] }),
      await changedOf(runId, { ...GUILD_POLICY, allowedTools, approvals: [] }),
    ]).toMatchObject([
      [],
      [
        {
          ...asked,
          from,
          to: { decision: "asks_people", patterns: ["async_review"], rules: ["/approvals/0"] },
        },
      ],
      [{ ...asked, from, to: { gate: "argument_rules", rules: ["/argumentRules/0"] } }],
      [{ ...asked, from, to: { decision: "refused", gate: "policy", code: "not_allowed" } }],
    ]);
    expect(await (await send("/v1/policy", { caller: "chief" })).text()).toBe(before);
    expect(moved).toEqual(["archived: a"]);
  });

  test("rules tell nothing of an argument that redaction withholds", async () => {
    const runId = await archived({ pin: "4711" });
    const guess = (pin: string): Promise<readonly object[]> => {
      const rule = { tool: "lab__archive", field: "/pin", must: { equal: pin } };
      return changedOf(runId, { ...GUILD_POLICY, approvals: [], argumentRules: [rule] });
    };
    expect(await guess("4711")).toEqual(await guess("1234"));
  });

  test("writers of the policy alone try one, and only on the calls of their tenant", async () => {
    const runId = await archived();
    expect(await refusalOf(await tried(GUILD_POLICY, "ann"))).toEqual([403, "insufficient_scope"]);
    const others = await tried({ allowedTools: [] }, "bendable");
    expect([others.status, await others.text()]).toEqual([200, expect.not.stringContaining(runId)]);
    const unknown = await tried({ allowedTools: ["no__such"] });
    const { errors } = await unknown.json<{ errors: readonly { pointer: string }[] }>();
    expect([unknown.status, errors[0]?.pointer]).toEqual([422, "/policy/allowedTools/0"]);
  });
});

test("a run that goes on is 409 with its reason, and one that was cancelled is decided alike", async () => {
  const response = await chat([{ text: ["half"], hangs: true }], "archive");
  const runId = runIdOf(response);
  const reasonOf = async (): Promise<unknown> => {
    const refused = await replayAs(runId, "archive");
    const { reason } = await refused.json<{ reason: string }>();
    return [refused.status, reason];
  };
  expect(await reasonOf()).toEqual([409, "unfinished"]);
  await cancel(runId, "archive");
  expect(await replayed(runId)).toMatchObject({ outcome: "equal" });
  await response.body?.cancel().catch(() => {});
});

test("a name that the model made up is not shown", async () => {
  const called = (name: string): ScriptedStep => ({ calls: [{ id: "made-up", name, args: "{}" }] });
  const runId = await runToEnd([called("hunter2"), { text: ["done"] }]);
  await runInDurableObject(stubOf(runId), (_object, { storage }) => {
    for (const { seq, state, body } of readLog(storage.sql)) {
      const changed = body?.replaceAll("hunter2", "hunter3") ?? null;
      const row = "UPDATE log SET state = ?, body = ?, base = NULL WHERE seq = ?";
      storage.sql.exec(row, state, changed, seq);
    }
    return storage.sync();
  });
  await crash(runId);
  const answer = await replayed(runId);
  expect(answer).toMatchObject({ outcome: "different", difference: { toolCallId: "made-up" } });
  expect(JSON.stringify(answer)).not.toContain("hunter");
});

test("a run whose earlier turns are changed is 409, and one whose are gone is 410", async () => {
  const { conversationId } = await finish({ caller: "archive" });
  const { runId } = await finish({ caller: "archive", conversationId });
  expect(await replayed(runId)).toMatchObject({ outcome: "equal" });
  await untilKept(conversationId, 2);
  await changeTurns(conversationId, "UPDATE turns SET page_hash = 'sha256:0' WHERE number = 1");
  const changed = await replayAs(runId, "archive");
  expect(changed.status).toBe(409);
  expect(await changed.json()).toMatchObject({ reason: "history_changed" });
  await runInDurableObject(stubOf(conversationId), (_object, { storage }) => storage.deleteAll());
  await crash(conversationId);
  expect(await refusalOf(await replayAs(runId, "archive"))).toEqual([410, "history_erased"]);
  expect(await rowsOf(runId, "SELECT 1 FROM main.log LIMIT 1")).toHaveLength(1);
});

test("nobody replays without the scope, or a run of another tenant", async () => {
  const runId = await writeNote();
  const answers = await Promise.all(
    [
      replayAs(runId, "mira"),
      replayAs(runId, "auditor"),
      replayAs("run_unknown", "auditor"),
      send(`/v1/runs/${runId}/replay`, { method: "POST" }),
    ].map(async (answer) => refusalOf(await answer)),
  );
  expect(answers).toEqual([
    [403, "insufficient_scope"],
    [404, "run_not_found"],
    [404, "run_not_found"],
    [401, "missing_token"],
  ]);
});
