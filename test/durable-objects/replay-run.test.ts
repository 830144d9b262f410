import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { EventLog } from "../../durable-objects/run/event-log.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import type { ConversationMethods } from "../../src/capabilities/conversation.ts";
import { RunInvocations } from "../../src/run/invocations.ts";
import { StoredTranscript } from "../../durable-objects/run/stored-transcript.ts";
import { TOOLS } from "../../src/tools/index.ts";
import type { RunEvidence } from "../../src/loop/replay/evidence.ts";
import { policyDocumentKey } from "../../src/protocol/policy/pin.ts";
import { forbiddenCalls, replay } from "../../src/testing/fakes/evidence.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { effects, LAB_TOOLS } from "../workers/lab-tools.ts";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { bindings, chat, runIdOf, seedPolicies, send } from "../shared/worker.ts";
import { finish, untilKept } from "../shared/conversations.ts";
import { invoke, read } from "../shared/invoke.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
  forbiddenCalls.length = 0;
});

const CONTRACTS = [...TOOLS, ...LAB_TOOLS];
const stubOf = (runId: string): DurableObjectStub =>
  bindings.RUNS.get(bindings.RUNS.idFromName(runId));

/** Reads the tables of a run and its pinned policy. */
async function evidenceOf(runId: string): Promise<RunEvidence> {
  const stored = await runInDurableObject(stubOf(runId), (_object, { storage }) => {
    const store = new RunStore(storage);
    const { claimedMessages, createdMs } = store.identity();
    const claim = store.claimed();
    if (!claim) throw new Error("the run has shrunk");
    const transcript = new StoredTranscript(store.log).all();
    const { modelCalls, pin } = store.progress().facts;
    return {
      claim: { ...claim, messages: transcript.slice(0, claimedMessages) },
      transcript,
      invocations: new RunInvocations(store.log, store.logged().invocations).all(),
      log: [...new EventLog(storage.sql, store.log, store.incarnations().epoch).readAll()],
      modelCalls,
      createdMs,
      pin,
    };
  });
  const { pin, ...evidence } = stored;
  if (!pin) throw new Error("the run pinned no policy");
  const key = policyDocumentKey(evidence.claim.principal.tenantId, pin.hash);
  const document = await bindings.POLICY.get<object>(key, "json");
  const window = await windowOf(evidence.claim);
  return { ...evidence, window, policy: { policy: policyOf(document ?? {}), pin } };
}

/** Reads the earlier turns of a run by their hash, as a later incarnation of it does. */
async function windowOf({ runId, workflowId, history }: RunEvidence["claim"]) {
  if (workflowId === undefined || !history) return undefined;
  const conversation = stubOf(workflowId) as unknown as ConversationMethods;
  return conversation.readWindow(runId, history);
}

async function expectSameDecisions(runId: string): Promise<void> {
  const done = [...effects];
  const replayed = await replay(await evidenceOf(runId), CONTRACTS);
  if (!replayed.ok) throw new Error(replayed.failure.reason);
  expect(replayed.value.replayed).toBe(replayed.value.recorded);
  expect([forbiddenCalls, effects]).toEqual([[], done]);
}

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

test("a finished run replays to the same decisions from its tables, without calling its tools", async () => {
  const response = await chat(STEPS, "lab");
  await response.text();
  const runId = runIdOf(response);
  await evictDurableObject(stubOf(runId));
  await expectSameDecisions(runId);
});

test("a run that crashed during a model answer replays to the same decisions", async () => {
  const again = { text: ["whole"], calls: [{ name: "lab__flaky", args: "{}" }] };
  const response = await chat(
    [{ text: ["half"], hangs: true, once: "replay-died", later: again }, { text: ["done"] }],
    "lab",
  );
  const runId = runIdOf(response);
  const reader = response.body?.getReader();
  await reader?.read();
  await vi.waitFor(async () => {
    const { log } = await evidenceOf(runId);
    expect(log.some(({ type }) => type === "text_started")).toBe(true);
  });
  await runInDurableObject(stubOf(runId), (_object, state) => state.abort("crash")).catch(() => {});
  const [after] = await Promise.all([
    send(`/v1/runs/${runId}/events`, { caller: "lab" }),
    reader?.cancel().catch(() => {}),
  ]);
  expect(await after.text()).toContain("withdrawn");
  await expectSameDecisions(runId);
});

test("a changed record of the same run replays to other decisions", async () => {
  const response = await chat(STEPS, "lab");
  await response.text();
  const evidence = await evidenceOf(runIdOf(response));
  const text = JSON.stringify(evidence.invocations).replace("6 * 7", "6 * 8");
  const replayed = await replay({ ...evidence, invocations: JSON.parse(text) }, CONTRACTS);
  if (!replayed.ok) throw new Error(replayed.failure.reason);
  expect(replayed.value.replayed).not.toBe(replayed.value.recorded);
});

test("a direct call replays to the same decisions, without calling its tool or a model", async () => {
  const response = await invoke(
    "lab__write_note",
    { text: "hidden", to: "ann" },
    { key: "replay" },
  );
  const { runId } = await read(response);
  await evictDurableObject(stubOf(runId));
  await expectSameDecisions(runId);
});

test("a run of a conversation replays with the turns before it, and not once these are deleted", async () => {
  const caller = "lab";
  const first = await finish({ caller, steps: STEPS });
  const { conversationId } = first;
  const shown = [
    { text: ["so"], calls: [{ name: "core__calculate", args: '{"expression":"1"}' }] },
  ];
  const { runId } = await finish({ caller, conversationId, steps: shown });
  await untilKept(conversationId, 2);
  await expectSameDecisions(runId);
  const evidence = await evidenceOf(runId);
  const changed = { ...evidence.claim, history: { ...evidence.claim.history, hash: "sha256:0" } };
  expect(await windowOf(changed as RunEvidence["claim"])).toEqual({ kind: "changed" });
  const path = `/v1/conversations/${conversationId}`;
  await expect.poll(async () => (await send(path, { caller, method: "DELETE" })).status).toBe(200);
  const window = await windowOf(evidence.claim);
  expect(await replay({ ...evidence, window }, CONTRACTS)).toMatchObject({
    failure: { reason: "history_erased" },
  });
  for (const place of ["", "/events"]) {
    expect((await send(`/v1/runs/${runId}${place}`, { caller })).status).toBe(410);
  }
});
