import { runInDurableObject } from "cloudflare:test";
import * as v from "valibot";
import { beforeAll, expect, test } from "vitest";
import { stubOf, readLogged } from "../shared/run-object.ts";
import { createHmacRunIds } from "../../src/adapters/run/hmac-run-ids.ts";
import { randomBytes } from "../../src/adapters/platform/system.ts";
import { defineCoreTool } from "../../src/contracts/define/core-tool.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { deploymentOf } from "../shared/deployment.ts";
import { holdUrl, releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import {
  bindings,
  type Caller,
  chat,
  chunksOf,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type WireChunk,
} from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

beforeAll(seedPolicies);

const ACME = { tenantId: "acme", actorId: "user:acme", roles: [], scopes: [] };
const TIME = { name: "core__get_current_time", args: '{"timeZone":"UTC"}' };

function say(runId: string, content: unknown, caller: Caller = "acme"): Promise<Response> {
  return send(`/v1/runs/${runId}/messages`, {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content }),
  });
}

const release = (word: string): Promise<Response> => fetch(releaseUrl(word));

const codeOf = async (response: Response): Promise<unknown> => [
  response.status,
  (await response.json<{ code: string }>()).code,
];

/** Reads a stream until it holds a text; the whole of it can still be had. */
async function readUntil(text: string, { body }: Response) {
  const [ours, theirs] = body?.tee() ?? [];
  const reader = theirs?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes(text)) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`the stream ended without ${text}`);
    seen += value;
  }
  await reader?.cancel();
  return { chunks: () => chunksOf(new Response(ours ?? null)) };
}

/** Starts a run whose first model call waits, and waits until it streams. */
async function startHeld(
  word: string,
  { more = [], ...step }: ScriptedStep & { readonly more?: readonly ScriptedStep[] } = {},
  caller: Caller = "acme",
) {
  const response = await chat([{ text: ["Well, "], holds: word, ...step }, ...more], caller);
  return { runId: runIdOf(response), ...(await readUntil("Well, ", response)) };
}

const dataOf = (chunks: readonly WireChunk[]): readonly WireChunk[] =>
  chunks.flatMap(({ type, data }) => (type === "data" ? (data as WireChunk[]) : []));

/** What the model was shown when it echoed its request. */
function echoIn(chunks: readonly WireChunk[]): readonly { role: string; content: string }[] {
  const deltas = chunks.flatMap(({ textDelta }) =>
    typeof textDelta === "string" ? [textDelta] : [],
  );
  const echo = deltas.slice(deltas.findIndex((text) => text.startsWith('{"model"'))).join("");
  return (JSON.parse(echo) as { messages: { role: string; content: string }[] }).messages;
}

test("a message while the model streams gets its own step and its own event", async () => {
  const run = await startHeld("streams");
  const answer = await say(run.runId, "and in Paris?");
  expect(answer.status).toBe(202);
  expect(await answer.json()).toMatchObject({ runId: run.runId, status: "running" });
  await release("streams");
  const chunks = await run.chunks();
  expect(dataOf(chunks)).toContainEqual({ type: "user-message", text: "and in Paris?" });
  const finished = chunks.filter(({ type }) => type === "step-finish");
  expect(finished.map(({ isContinued }) => isContinued)).toEqual([true, false]);
  expect(echoIn(chunks).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(echoIn(chunks).at(-1)?.content).toBe("and in Paris?");
  expect(await stateOf(run.runId)).toMatchObject({ status: "completed", reason: "stop", steps: 2 });
});

test("a message waits for the results of the calls that were asked for, and a continuing run has both", async () => {
  const run = await startHeld("calls", { calls: [TIME, { ...TIME, id: "call_b" }] });
  for (const content of ["first", "second"])
    expect((await say(run.runId, content)).status).toBe(202);
  await release("calls");
  const roles = ["user", "assistant", "tool", "tool", "user", "user"];
  const seen = echoIn(await run.chunks());
  expect(seen.map(({ role }) => role)).toEqual(roles);
  expect(seen.slice(4).map(({ content }) => content)).toEqual(["first", "second"]);
  const next = await postChat({
    messages: [{ role: "user", content: "echo" }],
    previousRunId: run.runId,
  });
  expect(echoIn(await chunksOf(next)).map(({ role }) => role)).toEqual([
    ...roles,
    "assistant",
    "user",
  ]);
});

test("a message while a tool runs comes after its result", async () => {
  const ids = createHmacRunIds(bindings.RUN_ID_SECRET, randomBytes);
  const runId = await ids.mint({ tenantId: "acme" as TenantId, actorId: "user:acme" as ActorId });
  const slow = defineCoreTool({
    name: "core__calculate",
    version: "1.0.0",
    description: "Takes its time.",
    input: v.strictObject({}),
    output: v.strictObject({ waited: v.boolean() }),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: ["waited"] },
    capabilities: [],
    async execute() {
      await fetch(holdUrl("tool"));
      return ok({ waited: true });
    },
  });
  const text = script({ calls: [{ name: "core__calculate", args: "{}" }] });
  const claim = { runId, principal: ACME, model: "scripted", messages: [{ role: "user", text }] };
  const body = JSON.stringify(claim);
  await runInDurableObject(stubOf(runId), async (object: DurableObject) => {
    // What a subclass with other tools does.
    const value = deploymentOf([slow]);
    Object.defineProperty(object, "deployment", { value });
    await object.fetch?.(new Request("https://run/start", { method: "POST", body }));
  });
  const events = await send(`/v1/runs/${runId}/events`, { caller: "acme" });
  const run = await readUntil("args-text-finish", events);
  expect((await say(runId, "hurry")).status).toBe(202);
  await release("tool");
  const chunks = await run.chunks();
  const order = chunks.flatMap(({ type, data }) =>
    type === "result"
      ? [type]
      : type === "data"
        ? (data as WireChunk[]).map((item) => item.type)
        : [],
  );
  expect(order).toEqual(["run", "user-message", "result", "done"]);
  expect(echoIn(chunks).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  expect(echoIn(chunks)[2]?.content).toContain('{"waited":true}');
});

test("a message after the end is refused, and changes nothing", async () => {
  const response = await chat([{ text: ["hi"] }]);
  const runId = runIdOf(response);
  await response.text();
  const before = await stateOf(runId);
  expect(await codeOf(await say(runId, "too late"))).toEqual([409, "run_ended"]);
  expect(await stateOf(runId)).toEqual(before);
});

test("a message in the last step that the policy allows is refused: nothing would answer it", async () => {
  const run = await startHeld("last", { more: [{ text: ["ok"] }], calls: [TIME] }, "strict");
  expect(
    (await say(run.runId, script({ text: ["Well, "], holds: "second" }), "strict")).status,
  ).toBe(202);
  await release("last");
  const isInSecond = async (): Promise<boolean> => (await stateOf(run.runId, "strict")).steps === 2;
  await expect.poll(isInSecond).toBe(true);
  expect(await codeOf(await say(run.runId, "one more", "strict"))).toEqual([409, "run_ended"]);
  await release("second");
  await run.chunks();
});

test("another tenant's run answers exactly as one that never was", async () => {
  const run = await startHeld("rival");
  const foreign = await say(run.runId, "hello", "rival");
  const unknown = await say("run_unknown", "hello", "rival");
  expect(foreign.status).toBe(404);
  expect(await foreign.json()).toEqual(await unknown.json());
  await release("rival");
  expect(dataOf(await run.chunks()).map(({ type }) => type)).toEqual(["run", "done"]);
});

test("a token without the scope, and none, are refused", async () => {
  const body = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
  const answers = [
    await send("/v1/runs/run_x/messages", body),
    await send("/v1/runs/run_x/messages", { ...body, caller: "reader" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 403]);
});

test.each([
  ["an empty text", ""],
  ["a text over 32,768 characters", "x".repeat(32_769)],
  ["a list of parts", [{ type: "text", text: "x" }]],
  ["nothing", undefined],
])("%s is refused", async (_name, content) => {
  expect(await codeOf(await say("run_x", content))).toEqual([422, "invalid_request"]);
});

test("the longest text reaches the model as it was said, half a character as U+FFFD", async () => {
  const run = await startHeld("long");
  const text = `\ud800${"ü".repeat(32_767)}`;
  expect((await say(run.runId, text)).status).toBe(202);
  await release("long");
  const heard = echoIn(await run.chunks()).at(-1)?.content ?? "";
  // A failed comparison would report half a character, which the test runner cannot send.
  expect(heard === `\ufffd${text.slice(1)}`).toBe(true);
});

test("the thirty-third waiting message is refused until a step takes the others", async () => {
  const run = await startHeld("many");
  const answers = await Promise.all(Array.from({ length: 33 }, (_, n) => say(run.runId, `m${n}`)));
  expect(answers.filter(({ status }) => status === 202).length).toBe(32);
  const refused = answers.find(({ status }) => status !== 202);
  expect(refused?.headers.get("retry-after")).toBe("1");
  expect(await codeOf(refused ?? new Response())).toEqual([429, "too_many_messages"]);
  await release("many");
  expect(echoIn(await run.chunks()).length).toBe(34);
});

test("a message to a run that is cancelled is refused or kept, never lost", async () => {
  const run = await startHeld("cancelled");
  expect((await say(run.runId, "kept")).status).toBe(202);
  await send(`/v1/runs/${run.runId}/cancel`, { caller: "acme", method: "POST" });
  expect(await codeOf(await say(run.runId, "late"))).toEqual([409, "run_ended"]);
  await run.chunks();
  const next = await postChat({
    messages: [{ role: "user", content: "echo" }],
    previousRunId: run.runId,
  });
  const said = echoIn(await chunksOf(next)).map(({ content }) => content);
  expect(said.slice(-2)).toEqual(["kept", "echo"]);
});

test("a message survives a crash of the run, once, with its event", async () => {
  const run = await startHeld("crash", { hangs: true, once: "crash", later: { text: ["ok"] } });
  expect((await say(run.runId, "survive")).status).toBe(202);
  const broken = run.chunks().catch(() => {});
  await runInDurableObject(stubOf(run.runId), (_object, state) => state.abort("crash")).catch(
    () => {},
  );
  const log = await chunksOf(await send(`/v1/runs/${run.runId}/events`, { caller: "acme" }));
  expect(dataOf(log).filter(({ type }) => type === "user-message").length).toBe(1);
  await broken;
  const rows = await runInDurableObject(stubOf(run.runId), (_object, { storage }) =>
    readLogged<{ body: string }>(storage.sql, "SELECT body FROM messages ORDER BY seq"),
  );
  const said = rows.filter(({ body }) => body.includes("survive"));
  const told = said.map(({ body }) => JSON.parse(body) as { role: string });
  expect(told.filter(({ role }) => role === "user")).toEqual([{ role: "user", text: "survive" }]);
});

test("a message that the conversation holds already is not repeated after a crash", async () => {
  const run = await startHeld("taken");
  const later = { text: ["done"] };
  const next = script({ text: ["Going on"], hangs: true, once: "going", later });
  expect((await say(run.runId, next)).status).toBe(202);
  await release("taken");
  const rowsOf = (): Promise<readonly string[]> =>
    runInDurableObject(stubOf(run.runId), (_object, { storage }) =>
      readLogged<{ body: string }>(storage.sql, "SELECT body FROM messages ORDER BY seq").map(
        ({ body }) => (JSON.parse(body) as { role: string }).role,
      ),
    );
  await expect.poll(async () => (await rowsOf()).length).toBe(3);
  // The crash has to follow the model call that hangs once, or the next call would hang.
  const hasText = (): Promise<boolean> =>
    runInDurableObject(stubOf(run.runId), (_object, { storage }) =>
      readLogged<{ body: string }>(storage.sql, "SELECT body FROM events").some(({ body }) =>
        body.includes("Going on"),
      ),
    );
  await expect.poll(hasText).toBe(true);
  const broken = run.chunks().catch(() => {});
  await runInDurableObject(stubOf(run.runId), (_object, state) => state.abort("crash")).catch(
    () => {},
  );
  await (await send(`/v1/runs/${run.runId}/events`, { caller: "acme" })).text();
  await broken;
  expect(await rowsOf()).toEqual(["user", "assistant", "user", "assistant"]);
});
