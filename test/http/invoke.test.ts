import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { invoke, read } from "../shared/invoke.ts";
import { APPROVE, decide, openOf, REJECT } from "../shared/people.ts";
import { crash, refusalOf, tellOutcome, untilState } from "../shared/run-object.ts";
import { putAssistant } from "../shared/assistants.ts";
import {
  chunksOf,
  govern,
  HOST_PAGE,
  postChat,
  putConnection,
  seedPolicies,
  send,
  stateOf,
} from "../shared/worker.ts";
import { frozen, moved } from "../workers/lab-approvals.ts";
import { effects } from "../workers/lab-tools.ts";
import { written } from "../workers/lab-writes.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
  moved.length = 0;
  written.length = 0;
  frozen.clear();
});

const NOTE = { text: "once", to: "ann" };

describe("a direct call", () => {
  test("of a reading tool answers its observation, without a key and without a model", async () => {
    const response = await invoke("lab__read_page", { url: "https://a.example" });
    const { status, runId, observation } = await read(response);
    expect([status, response.headers.get("x-run-id")]).toEqual([200, runId]);
    expect(observation).toMatchObject({
      tool_identity: { name: "lab__read_page" },
      status: { taxonomy_class: "SUCCESS" },
      result_payload: { data: { text: "An ordinary page." } },
    });
    const state = await stateOf(runId, "lab");
    expect(state).toMatchObject({
      status: "completed",
      reason: "stop",
      model: "none",
      call: { toolId: "lab__read_page" },
      steps: 1,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  test("of a writing tool happens once, and a repetition gets the same answer", async () => {
    const first = await invoke("lab__write_note", NOTE, { key: "note-1" });
    const again = await invoke("lab__write_note", NOTE, { key: "note-1" });
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.json()).toEqual(await first.json());
    expect(effects).toEqual(["note: once"]);
  });

  test("that is sent fifty times at once happens once", async () => {
    const sent = Array.from({ length: 50 }, () => invoke("lab__write_note", NOTE, { key: "many" }));
    const answers = await Promise.all((await Promise.all(sent)).map(read));
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(effects).toEqual(["note: once"]);
  });

  test("has a stream and a list entry that say that it is one, and lists of chats leave it out", async () => {
    const { runId } = await read(await invoke("lab__greet", {}));
    const events = await send(`/v1/runs/${runId}/events`, { caller: "lab" });
    const types = (await chunksOf(events)).map(({ type }) => type);
    expect(types).toContain("result");
    const runsOf = async (query: string): Promise<readonly { runId: string }[]> => {
      const response = await send(`/v1/runs?${query}`, { caller: "lab" });
      return (await response.json<{ runs: { runId: string }[] }>()).runs;
    };
    await expect
      .poll(() => runsOf("limit=100"))
      .toContainEqual(expect.objectContaining({ runId, call: { toolId: "lab__greet" } }));
    expect(await runsOf("kind=call")).toContainEqual(expect.objectContaining({ runId }));
    expect(await runsOf("kind=chat")).not.toContainEqual(expect.objectContaining({ runId }));
  });

  test("in flight is refused to a second sender, who gets the result later", async () => {
    const args = { what: "parcel", afterwards: "hold" };
    const first = invoke("lab__book", args, { key: "slow" });
    await expect.poll(() => written).toEqual(["book: parcel"]);
    const second = await invoke("lab__book", args, { key: "slow" });
    expect([second.status, second.headers.get("retry-after")]).toEqual([409, "1"]);
    expect((await read(second)).code).toBe("request_in_progress");
    await fetch(releaseUrl("parcel"));
    const done = await (await first).json();
    expect(await (await invoke("lab__book", args, { key: "slow" })).json()).toEqual(done);
    expect(written).toEqual(["book: parcel"]);
  });

  test("takes no messages, and no chat continues it", async () => {
    const { runId } = await read(await invoke("lab__greet", {}));
    const messages = [{ role: "user", content: "and now?" }];
    expect(await refusalOf(await postChat({ messages, previousRunId: runId }, "lab"))).toEqual([
      404,
      "run_not_found",
    ]);
    const asked = await read(
      await invoke("lab__notify", { what: "hi" }, { caller: "ann", key: "m" }),
    );
    const steered = await send(`/v1/runs/${asked.runId}/messages`, {
      caller: "ann",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content: "wait" }),
    });
    expect(await refusalOf(steered)).toEqual([409, "run_ended"]);
    expect((await stateOf(asked.runId, "ann")).status).toBe("waiting");
  });
});

describe("a direct call that people have to approve", () => {
  const pay = (key: string) =>
    invoke("lab__notify", { what: "hello" }, { caller: "ann", key }).then(read);

  test("answers the waiting run, happens after the approval, and then answers its observation", async () => {
    const asked = await pay("ask");
    expect(asked).toMatchObject({ status: 202, toolCalls: [{ state: "PENDING" }] });
    expect(moved).toEqual([]);
    expect(await pay("ask")).toMatchObject({ status: 202, runId: asked.runId });
    const [approvalId = ""] = openOf(asked as never);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await untilState(asked.runId, { status: "completed" }, "ann");
    expect(await pay("ask")).toMatchObject({
      status: 200,
      runId: asked.runId,
      observation: { status: { taxonomy_class: "SUCCESS" } },
    });
    expect(moved).toEqual(["notified: hello"]);
  });

  test("does not happen after a refusal, and answers why", async () => {
    const asked = await pay("no");
    await decide(openOf(asked as never)[0] ?? "", "ann", REJECT);
    await untilState(asked.runId, { status: "completed" }, "ann");
    expect(await pay("no")).toMatchObject({
      status: 200,
      observation: {
        status: { is_error: true },
        result_payload: { errors: [{ code: "approval_rejected" }] },
      },
    });
    expect(moved).toEqual([]);
  });

  test("does not happen after it was cancelled", async () => {
    const asked = await pay("stop");
    const cancelled = await send(`/v1/runs/${asked.runId}/cancel`, {
      caller: "ann",
      method: "POST",
    });
    expect(await cancelled.json()).toMatchObject({ status: "cancelled" });
    expect(await pay("stop")).toMatchObject({
      status: 200,
      observation: { status: { is_error: true } },
    });
    expect(moved).toEqual([]);
  });
});

describe("a direct call whose outcome is unknown", () => {
  test("answers the waiting run, and its observation once an operator knows", async () => {
    const args = { what: "rent", afterwards: "break" };
    const asked = await read(await invoke("lab__pay", args, { key: "rent" }));
    expect(asked).toMatchObject({ status: 202, toolCalls: [{ state: "PENDING", attempts: 1 }] });
    await tellOutcome(asked.runId, { body: { outcome: "committed" } });
    await untilState(asked.runId, { status: "completed" });
    expect(await read(await invoke("lab__pay", args, { key: "rent" }))).toMatchObject({
      status: 200,
      observation: { status: { taxonomy_class: "SUCCESS" } },
    });
    expect(written).toEqual(["pay: rent"]);
  });
});

describe("a direct call is refused", () => {
  test("when it would change something and has no key", async () => {
    const answer = await read(await invoke("lab__write_note", NOTE));
    expect([answer.status, answer.code]).toEqual([400, "request_key_missing"]);
    expect(effects).toEqual([]);
  });

  test("when its key belongs to other arguments, or to another tool", async () => {
    await (await invoke("lab__write_note", NOTE, { key: "taken" })).text();
    const other = await invoke("lab__write_note", { ...NOTE, text: "twice" }, { key: "taken" });
    expect(await refusalOf(other)).toEqual([422, "request_key_reused"]);
    const elsewhere = await invoke("lab__pay", { what: "x" }, { key: "taken" });
    expect(await refusalOf(elsewhere)).toEqual([422, "request_key_reused"]);
    expect(effects).toEqual(["note: once"]);
  });

  test("for a denied tool exactly as for an unknown one", async () => {
    const answers = await Promise.all(
      ["lab__delete_all", "lab__nothing", "constructor", "../../etc"].map(async (toolId) => {
        const response = await invoke(encodeURIComponent(toolId), {}, { key: "deny" });
        return [response.status, await response.text()];
      }),
    );
    expect(new Set(answers.map(String)).size).toBe(1);
    expect(answers[0]?.[0]).toBe(404);
    expect(effects).toEqual([]);
  });

  test("for arguments that do not fit, with the fields and without an effect", async () => {
    const answer = await read(
      await invoke("lab__write_note", { text: 7, bcc: "x" }, { key: "bad" }),
    );
    expect(answer.status).toBe(200);
    const { status, result_payload: payload } = answer.observation ?? {};
    expect(status?.is_error).toBe(true);
    expect(payload?.errors.map(({ field }) => field)).toContain("/text");
    const ruled = await read(
      await invoke("lab__write_note", { text: "x", to: "eve" }, { key: "r" }),
    );
    expect(ruled.observation?.status.taxonomy_class).toBe("POLICY_VIOLATION");
    expect(effects).toEqual([]);
  });

  test.each<[string, object]>([
    ["arguments", { arguments: [] }],
    ["arguments", { arguments: null }],
    ["another actor", { actorId: "user:eve" }],
    ["a model", { model: "scripted" }],
    ["a price", { budgets: { maxCost: 1e9 } }],
  ])("when its body holds %s", async (_name, more) => {
    const refused = await invoke("lab__greet", {}, { more });
    expect(await refusalOf(refused)).toEqual([422, "invalid_request"]);
  });

  test("without the scope chat", async () => {
    const refused = await invoke("core__calculate", {}, { caller: "lister" });
    expect(await refusalOf(refused)).toEqual([403, "insufficient_scope"]);
  });
});

test("another person and another tenant see nothing of a direct call", async () => {
  const { runId } = await read(
    await invoke("core__calculate", { expression: "1+1" }, { caller: "acme", key: "mine" }),
  );
  for (const caller of ["rival", "talker"] as const) {
    const theirs = await read(
      await invoke("core__calculate", { expression: "1+1" }, { caller, key: "mine" }),
    );
    expect(theirs.runId).not.toBe(runId);
  }
  expect((await send(`/v1/runs/${runId}`, { caller: "rival" })).status).toBe(404);
  expect((await send(`/v1/runs/${runId}`, { caller: "peer" })).status).toBe(404);
});

test("a direct call that loses its object once it acted is never made twice", async () => {
  const args = { what: "post", afterwards: "hold" };
  const first = invoke("lab__book", args, { key: "crash" });
  await expect.poll(() => written).toEqual(["book: post"]);
  const refused = await invoke("lab__book", args, { key: "crash" });
  const runId = refused.headers.get("x-run-id") ?? "";
  await crash(runId);
  // The call goes on, or it has ended by then.
  const { status, code } = await read(await first);
  expect([[200], [409, "request_in_progress"]]).toContainEqual([status, code].filter(Boolean));
  await untilState(runId, { status: "completed" });
  expect(await read(await invoke("lab__book", args, { key: "crash" }))).toMatchObject({
    status: 200,
  });
  expect(written).toEqual(["book: post"]);
});

describe("a page that calls a tool with an embed token", () => {
  const ORDER = { origin: HOST_PAGE, actorId: "user:victor" };

  beforeAll(async () => {
    await govern({
      allowedTools: ["lab__call_service", "lab__greet", "lab__write_note"],
      grants: [{ connectionId: "service", tools: ["lab__call_service"] }],
      origins: [HOST_PAGE],
      embedMinters: [{ actorId: "service:desk" }],
    });
    const secret = { kind: "bearer", token: "secret-of-service-0123456789" };
    await putConnection("service", secret, "bendable");
  });

  async function mint(bound: object): Promise<string> {
    const minted = await send("/v1/embed-tokens", {
      caller: "desk",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...ORDER, ...bound }),
    });
    const { token } = await minted.json<{ token: string }>();
    return token;
  }

  const askWith = (token: string, toolId: string, args: object, more = {}): Promise<Response> =>
    invoke(toolId, args, { token, origin: HOST_PAGE, key: crypto.randomUUID(), more });
  const ask = async (bound: object, toolId: string, args: object, more = {}): Promise<Response> =>
    askWith(await mint(bound), toolId, args, more);

  test("may call the tools that the token binds, with its connections", async () => {
    const bound = { toolIds: ["lab__call_service"], connectionIds: ["service"] };
    expect(await read(await ask(bound, "lab__call_service", {}))).toMatchObject({
      status: 200,
      observation: { result_payload: { data: { connection: "service" } } },
    });
  });

  test("gets the answer of an unknown tool for any other one", async () => {
    const bound = { toolIds: ["lab__greet"] };
    const refused = await ask(bound, "lab__write_note", NOTE);
    const unknown = await ask(bound, "lab__nothing", {});
    expect([refused.status, await refused.text()]).toEqual([404, await unknown.text()]);
    expect(effects).toEqual([]);
  });

  test("cannot call a tool that its assistant does not use any more", async () => {
    const toolIds = ["lab__greet", "lab__write_note"];
    await putAssistant("narrow", { toolIds }, "bendable");
    const token = await mint({ assistantId: "narrow", toolIds });
    await putAssistant("narrow", { toolIds: ["lab__greet"] }, "bendable");
    const refused = await askWith(token, "lab__write_note", NOTE);
    expect(await refusalOf(refused)).toEqual([404, "tool_not_found"]);
    expect((await askWith(token, "lab__greet", {})).status).toBe(200);
    expect(effects).toEqual([]);
  });

  test("cannot name another connection", async () => {
    const bound = { toolIds: ["lab__call_service"], connectionIds: [] };
    const refused = await ask(bound, "lab__call_service", {}, { connectionIds: ["service"] });
    expect(await refusalOf(refused)).toEqual([422, "connection_not_available"]);
  });
});
