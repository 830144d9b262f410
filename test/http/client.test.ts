import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient, type Client } from "../../src/client/client.ts";
import type { RunEvent, RunStream } from "../../src/client/run-stream.ts";
import { SILENCE_MS } from "../../src/client/silence-watch.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { govern, seedPolicies, send, type Caller } from "../shared/worker.ts";
import { library } from "../workers/lab-library.ts";
import { effects } from "../workers/lab-tools.ts";

type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
  library.happened.length = 0;
});

/** Reaches the Worker as `fetch` does. */
const reach =
  (caller: Caller): Fetch =>
  (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const { cache: _, ...rest } = init ?? {};
    return send(pathname + search, { ...rest, caller });
  };

/** Only the watch of a connection waits so long, and no connection here is dead. */
const wait = (ms: number): Promise<void> =>
  ms < SILENCE_MS ? Promise.resolve() : new Promise(() => undefined);

/** Opens a client that returns and repeats at once. */
function open(caller: Caller, change: (fetch: Fetch) => Fetch = (fetch) => fetch): Client {
  return createClient({ baseUrl: "https://interlock.test", fetch: change(reach(caller)), wait });
}

const asking = (...steps: readonly ScriptedStep[]) => ({
  messages: [{ role: "user" as const, content: script(...steps) }],
});

async function read(stream: RunStream): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const textOf = (events: readonly RunEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");

/** A client that never comes further ends its test, and does not read for ever. */
const MOST_CUT = 50;

/** Breaks each stream off in the middle of its line after the first, up to a number of streams. */
const cutting = (counts: { streams: number }): ((fetch: Fetch) => Fetch) => {
  return (fetch) => async (input, init) => {
    const response = await fetch(input, init);
    if (response.headers.get("content-type") !== "application/x-ndjson" || !response.body) {
      return response;
    }
    counts.streams += 1;
    if (counts.streams > MOST_CUT) return response;
    const reader = response.body.getReader();
    let [isFirst, rest] = [true, new Uint8Array()];
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done } = await reader.read();
        const bytes = new Uint8Array([...rest, ...(value ?? [])]);
        const end = bytes.indexOf(10) + 1;
        rest = bytes;
        if (isFirst && end === 0 && !done) return this.pull?.(controller);
        if (isFirst && end > 0) {
          isFirst = false;
          controller.enqueue(bytes.slice(0, Math.min(end + 9, bytes.length)));
          return undefined;
        }
        await reader.cancel().catch(() => undefined);
        if (done && bytes.length === 0) controller.close();
        else controller.error(new TypeError("the connection was lost"));
        return undefined;
      },
    });
    return new Response(body, response);
  };
};

describe("a chat of the client", () => {
  test("is read as neutral events, and names its run and conversation", async () => {
    const stream = open("acme").chat(asking({ text: ["Good ", "day"] }));
    const events = await read(stream);
    expect(textOf(events)).toBe("Good day");
    expect(events[0]).toMatchObject({ type: "run_started", runId: stream.runId });
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop" });
    expect(stream.conversationId).toBe(stream.runId);
  });

  test("whose every connection breaks in mid line has each event once, of one run", async () => {
    const counts = { streams: 0 };
    const client = open("acme", cutting(counts));
    const stream = client.chat(asking({ text: ["a", "b", "c", "d"] }));
    const events = await read(stream);
    expect(counts.streams).toBeGreaterThan(4);
    const again = await read(open("acme").follow({ runId: stream.runId ?? "" }));
    expect(events).toEqual(again);
    expect(textOf(events)).toBe("abcd");
  });

  test("goes on after the last event of another stream", async () => {
    const client = open("acme");
    const stream = client.chat(asking({ text: ["a", "b"] }));
    for await (const event of stream) if (event.type === "text_delta") break;
    const { runId = "", lastEventId } = stream;
    expect(textOf(await read(client.follow({ runId, after: lastEventId })))).toBe("b");
  });

  test("whose first answer is lost starts one run, whose write happens once", async () => {
    let posts = 0;
    const client = open("lab", (fetch) => async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== "POST" || ++posts > 1) return response;
      await response.body?.cancel();
      throw new TypeError("the connection was lost");
    });
    const note = { name: "lab__write_note", args: '{"to":"ann","text":"hello"}' };
    const events = await read(client.chat(asking({ calls: [note] }, { text: ["noted"] })));
    expect([posts, textOf(events), effects]).toEqual([2, "noted", ["note: hello"]]);
  });

  test("that is refused ends with the refusal as a value", async () => {
    const stream = open("acme").chat({ ...asking({ text: ["a"] }), model: "nobody" });
    const [event, ...more] = await read(stream);
    expect(event).toMatchObject({
      type: "broken",
      failure: { code: "model_not_allowed", status: 422, isTransient: false },
    });
    expect(more).toEqual([]);
  });

  test("that nobody can reach ends after some attempts, and after an abort at once", async () => {
    let attempts = 0;
    const offline = (): Fetch => () => {
      attempts += 1;
      return Promise.reject(new TypeError("offline"));
    };
    const body = asking({ text: ["a"] });
    const [event] = await read(open("acme", offline).chat(body));
    expect([event?.type, attempts]).toEqual(["broken", 7]);
    const signal = AbortSignal.abort();
    expect(await read(open("acme", offline).chat(body, { signal }))).toEqual([]);
  });

  test("that waits for people goes on once somebody decided", async () => {
    const pay = { name: "lab__transfer", args: '{"to":"bakery","amount":40}' };
    const kinds: string[] = [];
    for await (const event of open("ann").chat(asking({ calls: [pay] }, { text: ["no"] }))) {
      kinds.push(event.type);
      if (event.type !== "approval_requested") continue;
      const path = { id: event.approval.approvalId };
      const decided = await open("bob").call("POST /v1/approvals/{id}/decisions", {
        path,
        body: { decision: "reject" },
      });
      expect(decided).toMatchObject({ ok: true, value: { status: "rejected" } });
    }
    expect(kinds).toContain("approval_updated");
    expect(kinds.at(-1)).toBe("done");
  });
});

describe("a call of the client", () => {
  test("makes one key, keeps it, and happens once", async () => {
    await govern({ allowedTools: ["lab__lend_book", "lab__return_book"] });
    const keys = new Set<string | null>();
    const client = open("victor", (fetch) => async (input, init) => {
      keys.add(new Headers(init?.headers).get("idempotency-key"));
      const response = await fetch(input, init);
      if (keys.size === 1 && library.happened.length === 1 && !isLost) {
        isLost = true;
        throw new TypeError("the connection was lost");
      }
      return response;
    });
    let isLost = false;
    const lent = await client.invoke("lab__lend_book", { arguments: { book: "Emma" } });
    expect(lent).toMatchObject({
      ok: true,
      value: { observation: { status: { taxonomy_class: "SUCCESS" } } },
    });
    expect([isLost, keys.size, library.happened.length]).toEqual([true, 1, 1]);
    const runId = lent.ok ? lent.value.runId : "";
    const undone = await client.undo(runId, "inv_1");
    expect(undone).toMatchObject({ ok: true, value: { observation: {} } });
    expect(library.happened.length).toBe(2);
  });

  test("is repeated when the server says, within a minute, and never without a key", async () => {
    const delays: number[] = [];
    let keys: (string | null)[] = [];
    const client = createClient({
      baseUrl: "https://interlock.test",
      wait: async (ms) => void delays.push(ms),
      fetch: async (_, init) => {
        keys.push(new Headers(init?.headers).get("idempotency-key"));
        const headers = { "retry-after": "999999999" };
        return Response.json({ code: "rate_limited", title: "Later." }, { status: 429, headers });
      },
    });
    const body = { arguments: {} };
    const refused = { failure: { code: "rate_limited", message: "Later." } };
    expect(await client.invoke("core__now", body)).toMatchObject(refused);
    expect([delays, keys.length, new Set(keys).size]).toEqual([[60_000, 60_000, 60_000], 4, 1]);
    keys = [];
    expect(await client.invoke("core__now", body, { key: null })).toMatchObject(refused);
    expect(keys).toEqual([null]);
  });

  test("answers lists and refusals as typed values", async () => {
    const client = open("acme");
    await read(client.chat(asking({ text: ["Good day"] })));
    const list = () => client.call("GET /v1/conversations", { query: { limit: 1 } });
    await expect.poll(list).toMatchObject({ ok: true, value: { conversations: [{}] } });
    const unknown = await client.call("GET /v1/runs/{id}", { path: { id: "run_x" } });
    expect(unknown).toMatchObject({
      ok: false,
      failure: { code: "run_not_found", status: 404, isTransient: false },
    });
    const refused = await client.call("GET /v1/audit");
    expect(refused).toMatchObject({ ok: false, failure: { code: "insufficient_scope" } });
    await expect(client.call("GET /v1/runs/{id}", { path: { id: ".." } })).rejects.toThrow(
      TypeError,
    );
  });
});

test("a program waits for an approval, is told each state, and answers it like its people", async () => {
  const pay = { name: "lab__transfer", args: '{"to":"bakery","amount":41}' };
  const ann = open("ann");
  const stream = ann.chat(asking({ calls: [pay] }, { text: ["no"] }));
  for await (const event of stream) if (event.type === "approval_requested") break;
  const bob = open("bob");
  const { runId = "" } = stream;
  const find = async () => {
    const listed = await bob.approvals.list({ decidable: true, limit: 100 });
    return listed.ok ? listed.value.approvals.find((one) => one.runId === runId) : undefined;
  };
  await expect.poll(find).toBeDefined();
  const approvalId = (await find())?.approvalId ?? "";
  const seen: string[] = [];
  for await (const state of ann.approvals.watch(approvalId)) {
    seen.push(state.ok ? state.value.status : state.failure.code);
    if (seen.length > 1) continue;
    const decided = await bob.approvals.decide(approvalId, { decision: "reject", reason: "no" });
    expect(decided).toMatchObject({ ok: true, value: { status: "rejected" } });
  }
  expect(seen).toEqual(["pending", "rejected"]);
  for await (const state of open("acme").approvals.watch(approvalId)) {
    expect(state.ok).toBe(false);
  }
  const aborted = AbortSignal.abort();
  for await (const _ of ann.approvals.watch(approvalId, { signal: aborted })) throw new Error("x");
});

test("a program names, reads and deletes its conversations, and sees what operators see", async () => {
  const client = open("acme");
  const stream = client.chat(asking({ text: ["Good day"] }));
  await read(stream);
  const { conversationId = "" } = stream;
  const named = await client.conversations.rename(conversationId, "A good day");
  expect(named).toMatchObject({ ok: true, value: { title: "A good day" } });
  const told = await client.conversations.messages(conversationId, { limit: 1 });
  expect(told.ok && told.value.turns.map(({ runId }) => runId)).toEqual([stream.runId]);
  expect(await client.conversations.delete(conversationId)).toMatchObject({ ok: true });
  const lab = open("lab");
  expect(await lab.outcomes.list({ limit: 1 })).toMatchObject({ ok: true });
  expect(await lab.escalations.list({ state: "taken" })).toMatchObject({ ok: true });
  const act = await lab.escalations.act("esc_999999", { action: "take" });
  expect(act).toMatchObject({ ok: false, failure: { code: "escalation_not_found" } });
  const report = { runId: "run_x", invocationId: "inv_1" };
  expect(await lab.outcomes.report(report, "committed")).toMatchObject({ ok: false });
  expect(await lab.cancel("run_x")).toMatchObject({ ok: false });
});
