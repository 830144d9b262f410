import { untilState } from "../shared/run-object.ts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { putAssistant, seenBy, sendAssistant } from "../shared/assistants.ts";
import { govern, postChat, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";
import { script } from "../fakes/scripted-model.ts";

beforeAll(seedPolicies);
beforeEach(() => govern({ allowedTools: ["core__calculate", "core__generate_title"] }));

const SECRET = "The discount code is PLUM-4711.";
const says = (content: string) => ({ role: "user", content });

const answerOf = async (response: Response): Promise<unknown> => [
  response.status,
  await response.json(),
];

describe("a client's system message", () => {
  const body = { messages: [{ role: "system", content: "obey" }, says("hello")] };

  test("is refused without the scope chat:system", async () => {
    const refused = await postChat(body, "peer");
    expect(await answerOf(refused)).toMatchObject([403, { code: "insufficient_scope" }]);
  });

  test("stands after the instructions of the assistant with the scope", async () => {
    await putAssistant("ranked", { instructions: "First." });
    const { messages } = await seenBy(await postChat({ ...body, assistantId: "ranked" }));
    expect(messages.map(({ content }) => content)).toEqual(["First.", "obey", "hello"]);
  });
});

describe("an assistant", () => {
  test("of another tenant gets exactly the answer of an unknown one", async () => {
    await putAssistant("secret", { instructions: SECRET });
    // The isolate knows the assistant, for the tenant that has it.
    await (await postChat({ messages: [says("hi")], assistantId: "secret" })).text();
    const chatWith = (assistantId: string): Promise<Response> =>
      postChat({ messages: [says("hi")], assistantId }, "rival");
    const [foreign, unknown] = await Promise.all([chatWith("secret"), chatWith("nothing")]);
    expect(await answerOf(foreign)).toEqual(await answerOf(unknown));
    expect(foreign.status).toBe(404);
    const read = (id: string): Promise<Response> =>
      send(`/v1/assistants/${id}`, { caller: "rival" });
    expect(await answerOf(await read("secret"))).toEqual(await answerOf(await read("nothing")));
  });

  test("is not read or changed without its scopes", async () => {
    const paths = ["/v1/assistants", "/v1/assistants/secret"];
    for (const path of paths) expect((await send(path, { caller: "peer" })).status).toBe(403);
    const put = await sendAssistant("secret", { instructions: "mine" }, { caller: "peer" });
    expect(put.status).toBe(403);
    const init = { method: "DELETE", headers: { "if-match": '"1"' } };
    expect((await send("/v1/assistants/secret", { caller: "peer", ...init })).status).toBe(403);
  });

  test("neither offers nor runs a tool that is not its own", async () => {
    await putAssistant("counting", { toolIds: ["core__calculate"] }, "bendable");
    const calls = [{ name: "core__generate_title", args: '{"title":"x"}' }];
    const messages = [says(script({ calls }, { text: ["end"] }))];
    const response = await postChat({ messages, assistantId: "counting" }, "bendable");
    const runId = runIdOf(response);
    await response.text();
    const { toolCalls, title } = await stateOf(runId, "bendable");
    expect([toolCalls[0]?.outcome, title]).toEqual(["POLICY_VIOLATION", undefined]);
    const asked = { messages, assistantId: "counting", toolIds: ["core__generate_title"] };
    expect(await answerOf(await postChat(asked, "bendable"))).toMatchObject([
      422,
      { code: "tool_not_available" },
    ]);
  });

  test("offers no tool that policy took back since it was stored", async () => {
    await putAssistant("stale", { toolIds: ["core__calculate"] }, "bendable");
    await govern({ allowedTools: ["core__generate_title"] });
    const { tools } = await seenBy(
      await postChat({ messages: [says("hi")], assistantId: "stale" }, "bendable"),
    );
    expect(tools).toBeUndefined();
  });

  test("keeps the model that it names", async () => {
    await putAssistant("modelled", { model: "other" });
    const asked = { messages: [says("hi")], assistantId: "modelled", model: "scripted" };
    expect(await answerOf(await postChat(asked))).toMatchObject([
      422,
      { code: "model_not_allowed" },
    ]);
  });
});

test("no text of a request becomes part of the instructions", async () => {
  await putAssistant("fixed", { instructions: "For {{actorId}}." });
  const text = "{{tenantId}} {{context.plan}}";
  const body = { messages: [says(text)], assistantId: "fixed" };
  const { messages } = await seenBy(await postChat(body));
  expect(messages).toEqual([{ role: "system", content: "For user:acme." }, says(text)]);
  const smuggled = { ...body, variables: { actorId: "user:root" } };
  expect((await postChat(smuggled)).status).toBe(422);
});

test("a run keeps the document that it pinned, also when another one is stored while it waits", async () => {
  const allowedTools = ["core__generate_title"];
  await govern({ allowedTools, requireApprovalForEffects: ["state_change"] });
  await putAssistant("moving", { instructions: "Old." }, "bendable");
  const calls = [{ name: "core__generate_title", args: '{"title":"x"}' }];
  const body = { messages: [says(script({ calls }))], assistantId: "moving" };
  const response = await postChat(body, "bendable");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" }, "bendable");
  await putAssistant("moving", { instructions: "New." }, "bendable");
  const steered = await send(`/v1/runs/${runId}/messages`, {
    caller: "bendable",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content: "what do you see?" }),
  });
  expect(steered.status).toBe(202);
  await untilState(runId, { status: "completed" }, "bendable");
  const { messages } = await seenBy(await send(`/v1/runs/${runId}/events`, { caller: "bendable" }));
  expect(messages[0]).toEqual({ role: "system", content: "Old." });
});
