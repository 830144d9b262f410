import { afterEach, describe, expect, test } from "vitest";
import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import type { RunTrace } from "../../src/protocol/run/trace.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { invoke, read } from "../shared/invoke.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  useApprovalLab,
} from "../shared/people.ts";
import { crash, refusalOf, rowsOf, untilState } from "../shared/run-object.ts";
import { chat, govern, postChat, runIdOf, send, type Caller } from "../shared/worker.ts";
import { ANY_FLOW, GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import { JOURNEY_TOOLS } from "../workers/lab-sagas.ts";

useApprovalLab();

afterEach(() => changeGuildPolicy(GUILD_POLICY));

type Page = RunTrace & { readonly records: readonly AuditRecord[]; readonly next?: string };

const readAs = (runId: string, caller: Caller, query = ""): Promise<Response> =>
  send(`/v1/runs/${runId}/trace${query}`, { caller });

async function traceOf(runId: string, query = "?limit=100", caller: Caller = "chief") {
  const response = await readAs(runId, caller, query);
  expect(response.status).toBe(200);
  return response.json<Page>();
}

/** Reads the trace once the audit log has every record of the run. */
async function wholeTraceOf(runId: string, caller: Caller = "chief"): Promise<Page> {
  await expect
    .poll(async () => {
      const { records, notices } = await traceOf(runId, "?limit=100", caller);
      return notices.arePending ? "" : JSON.stringify(records);
    })
    .toContain("run.ended");
  return traceOf(runId, "?limit=100", caller);
}

const THREE = {
  approvals: [{ tools: ["lab__transfer"], pattern: "dual_control", required: 3 }],
};

async function putAssistant(instructions: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ instructions });
  const before = await send("/v1/assistants/default", { caller: "chief" });
  const etag = before.headers.get("etag");
  const precondition = etag === null ? { "if-none-match": "*" } : { "if-match": etag };
  const init = { caller: "chief", method: "PUT", headers: { ...headers, ...precondition }, body };
  expect((await send("/v1/assistants/default", init as never)).status).toBeLessThan(300);
}

test("an operator reads what was proposed, under which terms people approved, and what it took", async () => {
  await putAssistant("canary-instructions");
  const { runId, approvalId } = await askToPay({ pin: "canary-pin" });
  const waiting = await traceOf(runId);
  expect(waiting.run).toMatchObject({ status: "waiting", usage: { inputTokens: 0 } });
  expect(waiting.steps).toMatchObject([{ step: 1, finish: "tool_calls" }]);
  expect(waiting.steps[0]?.usage?.inputTokens).toBeGreaterThan(0);
  await decide(approvalId, "bob", { ...APPROVE, reason: "canary-reason sk-abcdefghijklmnop1234" });
  await changeGuildPolicy({ ...GUILD_POLICY, ...THREE });
  // The vote finds the new terms, and the run asks again under them.
  await decide(approvalId, "cat", APPROVE);
  const again = approvalId.replace(/_1$/, "_2");
  await untilState(runId, { status: "waiting", toolCalls: [{ approvalId: again }] }, "ann");
  for (const person of ["bob", "cat", "eve"] as const) await decide(again, person, APPROVE);
  await ended(runId);
  expect(moved).toEqual(["40 to bakery with canary-pin"]);

  const trace = await wholeTraceOf(runId);
  const sha = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
  expect(trace).toMatchObject({
    runId,
    run: { status: "completed", reason: "stop" },
    claim: { actorId: "user:ann" },
    pins: {
      graphId: "default",
      assistant: { id: "default", hash: sha },
      policy: { hash: sha },
      promptHash: sha,
      wire: "openai",
      observationSchema: 1,
      wrapperVersion: "0.1.0",
    },
    steps: [
      { step: 1, finish: "tool_calls" },
      { step: 2, finish: "stop" },
    ],
    calls: [
      { name: "lab__transfer", dispatches: 1, reserved: { critical: 1 }, outcome: "SUCCESS" },
    ],
    approvals: [
      { approvalId, status: "superseded", supersededBecause: "terms_changed", required: 2 },
      {
        approvalId: again,
        status: "approved",
        required: 3,
        changedTerms: [{ term: "required", before: 2, after: 3 }],
        votes: [
          { approverId: "user:bob", decision: "approve" },
          { approverId: "user:cat", decision: "approve" },
          { approverId: "user:eve", decision: "approve" },
        ],
      },
    ],
    incarnations: { count: 1, stop: null },
  });
  expect(JSON.stringify(trace).match(/canary-(?!reason)\w+|sk-abc\w+/g)).toBe(null);
  const call = trace.records.find(({ entry }) => entry.action === "call.ended");
  expect(call?.entry).toMatchObject({ gates: { passed: expect.arrayContaining(["approval"]) } });
  const [row] = await rowsOf(runId, "SELECT arguments_text FROM invocations");
  expect(row?.["arguments_text"]).toContain("canary-pin");
});

/** What a run was asked, told and given, in places where only the run itself may have it. */
const SECRETS: readonly ScriptedStep[] = [
  {
    text: ["canary-answer"],
    calls: [
      callOf("lab__write_note", { text: "canary-argument", to: "ann" }, "1"),
      callOf("lab__leak", { how: "throw" }, "2"),
      callOf("lab__leak", { how: "output" }, "3"),
      callOf("canary__tool_that_nobody_has", { x: "canary-unknown" }, "4"),
    ],
  },
  { text: ["canary-end"] },
];

test("no prompt, text of a model, withheld argument, raw output or token of a vote is in a trace", async () => {
  const messages = [{ role: "user", content: script(...SECRETS) }];
  const response = await postChat({ messages, context: { note: "canary-context" } }, "archive");
  await response.text();
  const told = JSON.stringify(await wholeTraceOf(runIdOf(response), "archive"));
  // The name of a tool is no secret: the model asked for it, and the state shows it.
  expect(told.replaceAll("canary__tool_that_nobody_has", "").match(/canary[\w-]*/g)).toBe(null);
  expect(told).not.toMatch(/hunter|sk-live|Bearer|argumentsText|"token"/);
});

test("nobody reads a trace without the scope, of another tenant, or with a made-up id", async () => {
  const response = await chat([{ text: ["done"] }], "archive");
  await response.text();
  const runId = runIdOf(response);
  const foreign = await readAs(runId, "stranger");
  const unknown = await readAs(
    runId.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    "archive",
  );
  expect(foreign.status).toBe(404);
  expect(await foreign.text()).toBe(await unknown.text());
  const refusals = [
    readAs(runId, "auditor"),
    readAs(runId, "mira"),
    readAs(runId, "reader"),
    send(`/v1/runs/${runId}/trace`),
    readAs(runId, "archive", "?limit=101"),
    readAs(runId, "archive", "?run=x"),
  ].map(async (answer) => refusalOf(await answer));
  expect(await Promise.all(refusals)).toEqual([
    [404, "run_not_found"],
    [403, "insufficient_scope"],
    [403, "insufficient_scope"],
    [401, "missing_token"],
    [400, "query_invalid"],
    [400, "query_invalid"],
  ]);
});

test("its records come page by page, and a cursor reads no other run", async () => {
  const response = await chat([{ text: ["done"] }], "archive");
  await response.text();
  const runId = runIdOf(response);
  const whole = await wholeTraceOf(runId, "archive");
  const first = await traceOf(runId, "?limit=1", "archive");
  const cursor = `&cursor=${encodeURIComponent(first.next ?? "")}`;
  const second = await traceOf(runId, `?limit=100${cursor}`, "archive");
  expect([...first.records, ...second.records]).toEqual(whole.records);
  expect(Object.keys(second)).toEqual(["runId", "records"]);
  const other = runIdOf(await chat([{ text: ["done"] }], "archive"));
  const stolen = await readAs(other, "archive", `?limit=1${cursor}`);
  expect(await refusalOf(stolen)).toEqual([400, "cursor_invalid"]);
});

test("runs share a prompt hash as long as instructions and tools are the same", async () => {
  const hashOf = async (): Promise<string | undefined> => {
    const response = await chat([{ text: [`done ${Math.random()}`] }], "ann");
    await response.text();
    return (await traceOf(runIdOf(response))).pins.promptHash;
  };
  await putAssistant("one");
  const [one, same] = [await hashOf(), await hashOf()];
  expect(one).toBe(same);
  await changeGuildPolicy({ ...GUILD_POLICY, allowedTools: ["core__calculate"] });
  const fewer = await hashOf();
  await changeGuildPolicy(GUILD_POLICY);
  await putAssistant("two");
  expect(new Set([one, fewer, await hashOf()]).size).toBe(3);
});

test("a run that died keeps the prompt hash with which it began, and says how often it died", async () => {
  await putAssistant("before the crash");
  const { runId } = await askToPay();
  const before = await traceOf(runId);
  await crash(runId);
  await putAssistant("after the crash");
  const after = await traceOf(runId);
  expect(after.pins).toEqual(before.pins);
  expect(after.incarnations.count).toBeGreaterThanOrEqual(before.incarnations.count);
});

describe("a run of another kind", () => {
  test("names the model that answered in place of the first one, and what failed", async () => {
    const step = { status: 503, as: { "spare-a": { text: ["Here."] } } };
    const messages = [{ role: "user", content: script(step) }];
    const response = await postChat({ model: "brittle", messages }, "archive");
    await response.text();
    const { run, steps, records } = await wholeTraceOf(runIdOf(response), "archive");
    expect([run.model, steps]).toMatchObject(["brittle", [{ model: "spare", finish: "stop" }]]);
    const actions = records.map(({ entry }) => entry.action);
    expect(actions).toEqual(["run.started", "model.failed", "model.changed", "run.ended"]);
  });

  test("names the question of a call, and neither its text nor the answer", async () => {
    const { runId, approvalId } = await askFor([
      callOf("lab__seat", { flight: "LH1", pin: "canary-pin" }),
    ]);
    const answer = { decision: "answer", answer: { seat: "aisle", bags: 1 } };
    expect((await decide(approvalId, "ann", answer)).status).toBe(200);
    await ended(runId);
    const { approvals } = await wholeTraceOf(runId);
    expect(approvals).toMatchObject([{ approvalId, asks: "answer", status: "answered" }]);
    expect(JSON.stringify(approvals)).not.toMatch(/canary|aisle|bags/);
  });

  test("names the saga of each step, the run that undid a call, and the call that a run undid", async () => {
    const shelf = ["lab__lend_book", "lab__return_book"];
    await govern({ ...ANY_FLOW, allowedTools: [...JOURNEY_TOOLS, ...shelf] });
    const call = async (tool: string, args: object): Promise<string> => {
      const answer = await invoke(tool, args, { caller: "bendable", key: `"${tool}"` });
      return (await read(answer)).runId;
    };
    const journey = await call("lab__book_journey", { where: "Nice", pin: "canary-pin" });
    const { calls, pins, steps } = await wholeTraceOf(journey, "bendable");
    expect(calls.map(({ saga }) => saga)).toEqual([
      undefined,
      ...calls.slice(1).map(() => "inv_1"),
    ]);
    expect(calls.length).toBeGreaterThan(3);
    expect([steps.length, pins.graphId, pins.promptHash]).toEqual([1, undefined, undefined]);
    expect(JSON.stringify(calls)).not.toContain("canary");

    const lent = await call("lab__lend_book", { book: "Emma" });
    const path = `/v1/runs/${lent}/invocations/inv_1/compensate`;
    const undone = await read(await send(path, { caller: "bendable", method: "POST" }));
    await expect
      .poll(async () => (await traceOf(lent, "", "bendable")).calls[0]?.undo)
      .toMatchObject({ status: "undone", runId: undone.runId });
    const undo = await wholeTraceOf(undone.runId, "bendable");
    expect(undo.run.call?.undoes).toEqual({ runId: lent, invocationId: "inv_1" });
  });
});
