import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { rowsOf, stubOf } from "../shared/run-object.ts";
import { bindings, chat, runIdOf, seedPolicies, send, splitEvents } from "../shared/worker.ts";

beforeAll(seedPolicies);

const TIME = { name: "core__get_current_time", args: '{"timeZone":"Asia/Tokyo"}' };
const STEPS: readonly ScriptedStep[] = [
  { text: ["Looking. "], calls: [TIME] },
  { text: ["Done."] },
];

/** One event in the second wire; see test/fakes/line-wire.ts. */
type Line = { readonly id: string; readonly type: string } & Record<string, unknown>;

const linesOf = (text: string): readonly Line[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

const follow = (runId: string, query: string, lastEventId?: string): Promise<Response> =>
  send(`/v1/runs/${runId}/events${query}`, {
    caller: "acme",
    ...(lastEventId !== undefined && { headers: { "last-event-id": lastEventId } }),
  });

const ask = (path: string, body: object, key?: string): Promise<Response> =>
  send(path, {
    caller: "acme",
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
    body: JSON.stringify(body),
  });
const SAY = { say: script(...STEPS) };

test("a page of assistant-ui that names no thread is answered", async () => {
  const messages = [{ role: "user", content: script({ text: ["Here."] }) }];
  const post = { id: "chat", unstable_assistantMessageId: "m1", messages };
  const answer = await ask("/api/data-stream", post);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("Here.")]);
});

test("two readers follow one run at once, each in its own wire", async () => {
  const steps = [{ text: ["a", "b"], holds: "two-wires" }];
  const first = await chat(steps);
  const runId = runIdOf(first);
  const second = await follow(runId, "?wire=lines");
  await fetch(releaseUrl("two-wires"));
  const [events, lines] = [splitEvents(await first.text()), linesOf(await second.text())];
  expect(first.headers.get("x-wire")).toBe("assistant-transport; revision=1");
  expect(second.headers.get("x-wire")).toBe("lines; revision=7");
  expect(second.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(lines.map(({ id }) => id)).toEqual(
    events.filter(({ chunks }) => !chunks[0]?.type.startsWith("step-")).map(({ id }) => id),
  );
  expect(lines.filter(({ type }) => type === "text_delta").map(({ text }) => text)).toEqual([
    "a",
    "b",
  ]);
  expect(new Set(lines.map(({ runId: named }) => named))).toEqual(new Set([runId]));
});

test("a reader resumes in its own wire from any event, byte for byte", async () => {
  const first = await chat(STEPS);
  const runId = runIdOf(first);
  await first.text();
  const whole = await (await follow(runId, "?wire=lines")).text();
  for (const [index, { id }] of linesOf(whole).slice(0, -1).entries()) {
    const rest = await (await follow(runId, "?wire=lines", id)).text();
    expect(rest).toBe(
      whole
        .split(/(?<=\n)/)
        .slice(index + 1)
        .join(""),
    );
  }
});

test("a reader that changes its wire resumes at the same event", async () => {
  const first = await chat(STEPS);
  const runId = runIdOf(first);
  const events = splitEvents(await first.text());
  const at = events.findIndex(({ chunks }) => chunks[0]?.type === "result");
  const [next] = linesOf(await (await follow(runId, "?wire=lines", events[at - 1]?.id)).text());
  expect(next).toMatchObject({ id: events[at]?.id, type: "tool_call_result" });
});

test("the start of a call carries its name, so a wire need not remember the proposal", async () => {
  const first = await chat(STEPS);
  await first.text();
  const lines = linesOf(await (await follow(runIdOf(first), "?wire=lines")).text());
  expect(lines.find(({ type }) => type === "tool_call_start")).toMatchObject({
    toolName: TIME.name,
  });
});

test("a wire reads requests in its own shape", async () => {
  const response = await ask("/v1/chat?wire=lines", SAY);
  expect(response.status).toBe(200);
  expect(linesOf(await response.text()).at(-1)).toMatchObject({ type: "done", reason: "stop" });
  const refused = await ask("/v1/chat", SAY);
  expect([refused.status, await refused.json()]).toEqual([
    422,
    expect.objectContaining({ code: "invalid_request" }),
  ]);
});

describe("a repeated request", () => {
  /** Runs once under a key, until the record of the run is in KV. */
  async function finish(key: string): Promise<{ first: Response; bytes: string; name: string }> {
    const first = await ask("/v1/chat?wire=lines", SAY, key);
    const bytes = await first.text();
    const name = `run/${runIdOf(first)}`;
    await expect.poll(() => bindings.IDEMPOTENCY.get(name)).not.toBeNull();
    return { first, bytes, name };
  }
  const body = { messages: [{ role: "user", content: SAY.say }] };

  test("is answered from KV in the wire of its reader, whichever wire the first one named", async () => {
    const { first, bytes } = await finish("wires-kv");
    const live = await (await follow(runIdOf(first), "")).text();
    // Without its storage the object could only start the run again.
    await runInDurableObject(stubOf(runIdOf(first)), (_object, state) => state.storage.deleteAll());
    const same = await ask("/v1/chat?wire=lines", SAY, "wires-kv");
    expect(await same.text()).toBe(bytes);
    const other = await ask("/v1/chat", body, "wires-kv");
    expect(other.headers.get("x-wire")).toBe("assistant-transport; revision=1");
    expect(await other.text()).toBe(live);
  });

  test("is answered by the object when KV holds an encoded stream of the previous version", async () => {
    const { bytes, name } = await finish("wires-old");
    const { requestHash } = JSON.parse((await bindings.IDEMPOTENCY.get(name)) ?? "");
    const old = JSON.stringify({ requestHash, stream: "data: old\n\n" });
    await bindings.IDEMPOTENCY.put(name, old);
    const again = await ask("/v1/chat?wire=lines", SAY, "wires-old");
    expect([again.status, await again.text()]).toEqual([200, bytes]);
    const reused = await ask("/v1/chat?wire=lines", { say: "other" }, "wires-old");
    expect(reused.status).toBe(422);
  });
});

describe("an unknown wire", () => {
  test.each([
    ["a name that is not registered", "?wire=telex"],
    ["an empty name", "?wire="],
    ["two names", "?wire=lines&wire=lines"],
  ])("is refused: %s", async (_name, query) => {
    const first = await chat([{ text: ["hi"] }]);
    await first.text();
    const answers = [await follow(runIdOf(first), query), await ask(`/v1/chat${query}`, SAY)];
    for (const answer of answers) {
      expect([answer.status, await answer.json()]).toEqual([
        400,
        expect.objectContaining({
          code: "wire_unknown",
          detail:
            "Name one of these in `wire`: assistant-transport, ui-message, ui-message-6, ag-ui, event-lines, lines.",
        }),
      ]);
    }
  });

  test("claims no run when only the object does not know it", async () => {
    const stub = stubOf("run_of_an_older_object");
    const init = { method: "POST", headers: { "x-wire": "telex" }, body: "{}" };
    const answer = await stub.fetch("https://run/start", init);
    expect(answer.headers.get("x-run-answer")).toBe("unknown_wire");
    expect(await rowsOf("run_of_an_older_object", TABLES)).toEqual([]);
  });
});

const TABLES = "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
