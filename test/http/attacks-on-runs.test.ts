import { beforeAll, beforeEach, expect, test } from "vitest";
import { written } from "../workers/lab-writes.ts";
import { cancel, crash, refusalOf, ring, tellOutcome, untilState } from "../shared/run-object.ts";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import {
  bindings,
  chat,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type Caller,
} from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  written.length = 0;
});

type Call = NonNullable<ScriptedStep["calls"]>[number];

const payment = (what: string, afterwards?: "break" | "hold"): Call => ({
  id: `pay_${what}`,
  name: "lab__pay",
  args: JSON.stringify({ what, ...(afterwards && { afterwards }) }),
});

const json = { "content-type": "application/json" };
const COMMITTED = { outcome: "committed" };
const NOT_COMMITTED = { outcome: "not_committed" };

async function startInDoubt(what: string): Promise<{ runId: string; response: Response }> {
  const response = await chat([{ calls: [payment(what, "break")] }, { text: ["so be it"] }], "lab");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" });
  return { runId, response };
}

function postUnder(path: string, body: string, key: string): Promise<Response> {
  const headers = { ...json, "idempotency-key": key };
  return send(path, { caller: "lab", method: "POST", headers, body });
}

async function statusUnder(key: string, body: string): Promise<number> {
  const response = await postUnder("/v1/chat", body, key);
  await response.text();
  return response.status;
}

const saying = (content: string): string =>
  JSON.stringify({ messages: [{ role: "user", content }] });

test("a malformed invocation id, a malformed outcome or a missing token resolves nothing", async () => {
  const { runId } = await startInDoubt("forms");
  const ids = ["inv_01", "inv_0", "inv_1%2f..", "inv_1%00", "inv_1%0a", "inv_1%20", "inv_%F0"];
  for (const invocation of [...ids, "inv_999999999", "inv_1000000000", "INV_1", "inv_%EF%BC%91"]) {
    const answer = await tellOutcome(runId, { invocation, body: COMMITTED });
    expect(await refusalOf(answer), invocation).toEqual([404, "invocation_not_found"]);
  }
  const bodies = [
    '{"outcome":"committed","outcome":"expired"}',
    '{"outcome":["committed"]}',
    '{"outcome":"committed","__proto__":{}}',
    '"committed"',
  ];
  const path = `/v1/runs/${runId}/invocations/inv_1/outcome`;
  for (const body of bodies) {
    const answer = await send(path, { caller: "lab", method: "POST", headers: json, body });
    expect([400, 422], body).toContain(answer.status);
  }
  const nobody = { method: "POST", headers: json, body: JSON.stringify(COMMITTED) };
  expect((await send(path, nobody)).status).toBe(401);
  expect(await stateOf(runId, "lab")).toMatchObject({ status: "waiting" });
});

test("of two simultaneous outcomes one counts, whatever else arrives at that instant", async () => {
  const { runId, response } = await startInDoubt("instant");
  const [yes, no, message, stopped] = await Promise.all([
    tellOutcome(runId, { body: COMMITTED }),
    tellOutcome(runId, { body: NOT_COMMITTED }),
    postUnder(`/v1/runs/${runId}/messages`, '{"content":"and?"}', "instant"),
    cancel(runId),
  ]);
  await response.text();
  expect([yes.status, no.status].filter((status) => status === 200).length).toBeLessThan(2);
  expect([202, 409]).toContain(message.status);
  expect(stopped.status).toBe(200);
  expect((await stateOf(runId, "lab")).toolCalls).toHaveLength(1);
  expect(written).toEqual(["pay: instant"]);
});

test("call ids that look like other operations, or like each other, are separate operations", async () => {
  const ids = ["1:call_0", "2:1:call_0", "call_1_1", "", "x".repeat(129), "\ud800", "\ufffd"];
  ids.push("\0", "a\0b", "a\0c", "\u00e9", "e\u0301", "__proto__", "dup", "dup", "dup_");
  const calls = ids.map((id, index) => ({ ...payment(`n${index}`), id }));
  const next = { calls: [{ ...payment("attack-last", "hold"), id: "1:call_0" }] };
  const response = await chat([{ calls }, next, { text: ["end"] }], "lab");
  const runId = runIdOf(response);
  await expect.poll(() => written).toContain("pay: attack-last");
  await crash(runId);
  await response.text().catch(() => {});
  const { toolCalls } = await untilState(runId, { status: "waiting" });
  expect(written).toEqual([...ids.map((_, index) => `pay: n${index}`), "pay: attack-last"]);
  expect(new Set(toolCalls.map((call) => call.idempotencyKeyHash)).size).toBe(ids.length + 1);
  expect(new Set(toolCalls.map(({ toolCallId }) => toolCallId)).size).toBe(ids.length + 1);
});

test("a crash while one call waits and another runs repeats neither, and each gets its own outcome", async () => {
  const calls = [payment("waits", "break"), payment("attack-runs", "hold")];
  const response = await chat([{ calls }, { text: ["end"] }], "lab");
  const runId = runIdOf(response);
  const asked = { awaitsOutcomeUntil: expect.anything() };
  await untilState(runId, { toolCalls: [asked, {}] });
  await crash(runId);
  await response.text().catch(() => {});
  await untilState(runId, { status: "waiting", toolCalls: [asked, asked] });
  expect((await tellOutcome(runId, { invocation: "inv_2", body: COMMITTED })).status).toBe(200);
  await crash(runId);
  await untilState(runId, { status: "waiting" });
  expect((await tellOutcome(runId, { body: NOT_COMMITTED })).status).toBe(200);
  const states = [{ state: "FAILED_RETRYABLE" }, { state: "COMPLETED" }];
  await untilState(runId, { status: "completed", toolCalls: states });
  expect(written).toEqual(["pay: waits", "pay: attack-runs"]);
});

test("names of no tool run nothing, before a crash and after", async () => {
  const calls = [
    { id: "nul", name: "lab__pay\0", args: '{"what":"nul"}' },
    { id: "proto", name: "__proto__", args: "{}" },
    payment("attack-real", "hold"),
  ];
  const response = await chat([{ calls }, { text: ["end"] }], "lab");
  const runId = runIdOf(response);
  await expect.poll(() => written).toContain("pay: attack-real");
  await crash(runId);
  await response.text().catch(() => {});
  const failed = { state: "FAILED_FINAL" };
  const toolCalls = [failed, failed, { state: "PENDING" }];
  await untilState(runId, { status: "waiting", toolCalls });
  expect(written).toEqual(["pay: attack-real"]);
});

test("requests under a key are compared as JSON: by value, and by the code points of their text", async () => {
  expect(await statusUnder("forms", saying("e\u0301"))).toBe(200);
  expect(await statusUnder("forms", saying("\u00e9"))).toBe(422);
  expect(await statusUnder("order", `{"model":"scripted",${saying("x").slice(1)}`)).toBe(200);
  expect(await statusUnder("order", `${saying("x").slice(0, -1)},"model":"scripted"}`)).toBe(200);
});

test("a client that goes away under a key finds its run ended, and its effect made once", async () => {
  const body = saying(script({ calls: [payment("gone")] }, { text: ["end"] }));
  await (await postUnder("/v1/chat", body, "gone")).body?.cancel();
  await expect.poll(() => statusUnder("gone", body)).toBe(200);
  expect(written).toEqual(["pay: gone"]);
});

test("one key of a chat and of a message are two keys, and neither is seen in what is published", async () => {
  const body = saying(
    script({ text: ["one"], holds: "same-key" }, { calls: [payment("raw-words")] }),
  );
  const response = await postUnder("/v1/chat", body, "key-7f3a91");
  const path = `/v1/runs/${runIdOf(response)}/messages`;
  const said = script({ calls: [payment("raw-words")] }, { text: ["end"] });
  const message = await postUnder(path, JSON.stringify({ content: said }), "key-7f3a91");
  expect(message.status).toBe(202);
  await fetch(releaseUrl("same-key"));
  await response.text();
  expect(written).toEqual(["pay: raw-words"]);
  const kv = bindings.IDEMPOTENCY;
  const listed = async (prefix: string) => (await kv.list({ prefix })).keys.map(({ name }) => name);
  await expect.poll(() => listed("invocation/lab/")).not.toEqual([]);
  const names = await listed("");
  const values = await Promise.all(names.map((name) => kv.get(name)));
  expect([...names, ...values].join("\n")).not.toContain("key-7f3a91");
  const notices = values.filter((_, index) => names[index]?.startsWith("invocation/"));
  expect(notices.join("\n")).not.toContain("raw-words");
});

test("an event id of an epoch that never was is refused, and a run that is gone is so for its tenant alone", async () => {
  const { runId, response } = await startInDoubt("epochs");
  const follow = (caller: Caller, id: string): Promise<Response> =>
    send(`/v1/runs/${runId}/events`, { caller, headers: { "last-event-id": id } });
  for (const id of ["1-0", "2-1", "999999999999999-0", "0-999999"]) {
    expect(await refusalOf(await follow("lab", id))).toEqual([409, "event_id_unknown"]);
  }
  await cancel(runId);
  await response.text();
  await ring(runId, "retention");
  const told = { body: COMMITTED };
  const expired = [410, "run_expired"];
  expect(await refusalOf(await follow("lab", "9-9"))).toEqual(expired);
  expect(await refusalOf(await tellOutcome(runId, told))).toEqual(expired);
  const unknown = [404, "run_not_found"];
  expect(await refusalOf(await follow("rival", "9-9"))).toEqual(unknown);
  expect(await refusalOf(await tellOutcome(runId, { ...told, caller: "rival" }))).toEqual(unknown);
});
