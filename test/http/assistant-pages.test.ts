import { beforeAll, expect, test } from "vitest";
import { putAssistant, seenBy } from "../shared/assistants.ts";
import { bearer } from "../shared/identity.ts";
import { script } from "../fakes/scripted-model.ts";
import { bindings, HOST_PAGE, runIdOf, seedPolicies, send } from "../shared/worker.ts";

const SECRET = "The discount code is PLUM-4711.";
const SHOP = {
  instructions: SECRET,
  heading: "How can we help?",
  suggestions: ["Where is my order?"],
  toolIds: ["core__calculate"],
};
const says = (content: string) => ({ role: "user", content });

beforeAll(async () => {
  await seedPolicies();
  await putAssistant("shop", SHOP, "hosted");
  await putAssistant("other", { instructions: "Other." }, "hosted");
});

function mint(changes: object): Promise<Response> {
  const order = { origin: HOST_PAGE, actorId: "user:ann", toolIds: ["core__calculate"] };
  return send("/v1/embed-tokens", {
    caller: "backend",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...order, ...changes }),
  });
}

async function tokenFor(assistantId?: string, changes: object = {}): Promise<string> {
  const response = await mint({ ...(assistantId && { assistantId }), ...changes });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json<{ token: string }>()).token;
}

/** Sends a request as the page would that holds the token. */
function ask(
  token: string,
  path: string,
  body?: object,
  more: Record<string, string> = {},
  method = body ? "POST" : "GET",
): Promise<Response> {
  const headers = { origin: HOST_PAGE, "content-type": "application/json", ...more };
  const sent = body && { body: JSON.stringify(body) };
  return send(path, { method, ...sent, ...bearer(token, headers) });
}

const answerOf = async (response: Response): Promise<unknown> => [
  response.status,
  (await response.json<{ code?: string }>()).code,
];

test("a page gets heading and suggestions of its assistant", async () => {
  const shown = await ask(await tokenFor("shop"), "/v1/page");
  const { heading, suggestions } = SHOP;
  const none = { images: false, documents: false };
  expect(await shown.json()).toEqual({ assistantId: "shop", heading, suggestions, takes: none });
  const plain = await ask(await tokenFor(), "/v1/page");
  expect(await plain.json()).toEqual({ assistantId: "default", suggestions: [], takes: none });
});

test("a page's runs use the assistant of its token", async () => {
  const token = await tokenFor("shop");
  const { messages } = await seenBy(await ask(token, "/v1/chat", { messages: [says("hi")] }));
  expect(messages[0]).toEqual({ role: "system", content: SECRET });
});

test("a page cannot use another assistant than that of its token", async () => {
  const token = await tokenFor("shop");
  for (const assistantId of ["other", "default", "nothing"]) {
    const chat = await ask(token, "/v1/chat", { messages: [says("hi")], assistantId });
    expect(await answerOf(chat)).toEqual([404, "assistant_not_found"]);
    const page = await ask(token, `/v1/page?assistant=${assistantId}`);
    expect(await answerOf(page)).toEqual([404, "assistant_not_found"]);
  }
  const plain = await ask(await tokenFor(), "/v1/page?assistant=shop");
  expect(await answerOf(plain)).toEqual([404, "assistant_not_found"]);
});

test("a page cannot read, steer or continue a run of another assistant", async () => {
  const started = await ask(await tokenFor("other"), "/v1/chat", { messages: [says("hi")] });
  const runId = runIdOf(started);
  await started.text();
  const token = await tokenFor("shop");
  expect((await ask(token, `/v1/runs/${runId}`)).status).toBe(404);
  expect((await ask(token, `/v1/runs/${runId}/messages`, { content: "x" })).status).toBe(404);
  const more = await ask(token, "/v1/chat", { messages: [says("x")], previousRunId: runId });
  expect(await answerOf(more)).toEqual([404, "run_not_found"]);
});

test("a page gets no run of another assistant under the idempotency key of that run", async () => {
  const body = { messages: [says("hi")] };
  const key = { "idempotency-key": "first-question" };
  const started = await ask(await tokenFor("shop"), "/v1/chat", body, key);
  const runId = runIdOf(started);
  expect(await started.text()).toContain("PLUM");
  await expect.poll(() => bindings.IDEMPOTENCY.get(`run/${runId}`)).not.toBeNull();
  const other = await ask(await tokenFor("other"), "/v1/chat", body, key);
  expect(await answerOf(other)).toEqual([404, "run_not_found"]);
  const own = await ask(await tokenFor("shop"), "/v1/chat", body, key);
  expect([own.status, runIdOf(own)]).toEqual([200, runId]);
});

test("a chat id names another chat under each assistant", async () => {
  const runs = ["shop", "other", "shop"].map(async (assistantId) => {
    const post = { chatId: "help", messageId: "m", messages: [says("hi")] };
    const answer = await ask(await tokenFor(assistantId), "/v1/chat", post);
    await answer.text();
    return answer.headers.get("x-run-id");
  });
  const [shop, other, again] = await Promise.all(runs);
  expect([shop === other, shop === again, other]).toEqual([false, true, expect.any(String)]);
});

test("no answer that a page can get holds the instructions", async () => {
  const scopes = ["chat", "runs:read", "approvals:read", "tools:read"];
  const token = await tokenFor("shop", { scopes });
  const content = script({ calls: [{ name: "core__calculate", args: "{" }] }, { text: ["end"] });
  const started = await ask(token, "/v1/chat", { messages: [says(content)] });
  const runId = runIdOf(started);
  const answers = [started];
  for (const path of [
    `/v1/runs/${runId}`,
    `/v1/runs/${runId}/events`,
    "/v1/page",
    "/v1/tools",
    "/v1/runs",
    "/v1/audit",
    "/v1/assistants",
    "/v1/assistants/shop",
  ]) {
    answers.push(await ask(token, path));
  }
  answers.push(await ask(token, "/v1/chat", { messages: [says("x")], assistantId: "other" }));
  answers.push(await ask(token, "/v1/chat", { messages: [says("x")], model: "gpt-2" }));
  answers.push(await ask(token, "/v1/chat", { messages: [says("x")], toolIds: ["a"] }));
  for (const answer of answers) expect(await answer.text()).not.toContain("PLUM");
});

test("a token cannot be minted with the scope chat:system, or for an assistant that does not exist", async () => {
  expect((await mint({ scopes: ["chat:system"] })).status).toBe(422);
  expect(await answerOf(await mint({ assistantId: "nothing" }))).toEqual([
    404,
    "assistant_not_found",
  ]);
});

test("a token gets no tool that its assistant lacks", async () => {
  const refused = await mint({ assistantId: "shop", toolIds: ["core__generate_title"] });
  expect(await answerOf(refused)).toEqual([422, "tool_not_available"]);
});

test("an assistant does not raise the longest answer of a token", async () => {
  await putAssistant("wordy", { settings: { maxOutputTokens: 900 } }, "hosted");
  const token = await tokenFor("wordy", { budgets: { maxOutputTokens: 300 } });
  const seen = await seenBy(await ask(token, "/v1/chat", { messages: [says("hi")] }));
  expect(seen).toMatchObject({ max_completion_tokens: 300 });
});

test("a page reads the chats of its own assistant, and no others of its person", async () => {
  const [shop, other] = await Promise.all([tokenFor("shop"), tokenFor("other")]);
  const started = await ask(shop, "/v1/chat", { messages: [says(script({ text: ["ok"] }))] });
  const conversationId = runIdOf(started);
  await started.text();
  const listOf = async (token: string): Promise<string> =>
    (await ask(token, "/v1/conversations?limit=100")).text();
  await expect.poll(() => listOf(shop)).toContain(conversationId);
  expect(await listOf(other)).not.toContain(conversationId);
  for (const path of ["", "/messages"]) {
    const own = await ask(shop, `/v1/conversations/${conversationId}${path}`);
    expect(own.status).toBe(200);
    await own.text();
    const strange = await ask(other, `/v1/conversations/${conversationId}${path}`);
    expect(await answerOf(strange)).toEqual([404, "conversation_not_found"]);
  }
  const attacks = [
    ask(other, "/v1/chat", { messages: [says("go on")], conversationId }),
    ask(other, "/v1/chat", { messages: [says("go on")], conversationId, parentId: "root" }),
    ask(other, `/v1/conversations/${conversationId}`, undefined, {}, "DELETE"),
  ];
  for (const attack of attacks) {
    expect(await answerOf(await attack)).toEqual([404, "conversation_not_found"]);
  }
});

test("a page that speaks as a client of OpenAI has its assistant, and no other model", async () => {
  const token = await tokenFor("shop");
  const listed = await (await ask(token, "/v1/models")).json<{ data: { id: string }[] }>();
  expect(listed.data.map(({ id }) => id)).toEqual(["shop"]);
  const other = await ask(token, "/v1/responses", { model: "other", input: "hi" });
  const { error } = await other.json<{ error: { code: string } }>();
  expect([other.status, error.code]).toEqual([404, "assistant_not_found"]);
  expect(other.headers.get("access-control-allow-origin")).toBe(HOST_PAGE);
});
