import { describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { openAgUi, postAgUi, type AgentVersion } from "../shared/ag-ui.ts";
import { callOf, openOf, useApprovalLab, type Call } from "../shared/people.ts";
import { transcriptOf, untilState } from "../shared/run-object.ts";
import { openAIOf } from "../shared/openai-client.ts";
import { API_OF, openUiChat, type Major } from "../shared/ui-chat.ts";
import { send, stateOf } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";

useApprovalLab();

const NOTIFY = callOf("lab__notify", { what: "hello" });
const TRANSFER = callOf("lab__transfer", { to: "bakery", amount: 4 });

/** A person at a client: what they say, what they are shown, and how a post is repeated. */
interface Client {
  say(text: string): Promise<void>;
  /** The text of the newest answer. */
  text(): string;
  runId(): string;
  /** Posts the last post once more; answers the run of the answer. */
  repeat(): Promise<string>;
}

function uiClient(major: Major): Client {
  const path = API_OF[major];
  const ask = (body: string): Promise<Response> =>
    send(path, {
      caller: "ann",
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  const { chat, posted } = openUiChat(ask, { major });
  return {
    say: (text) => chat.sendMessage({ text }),
    text: () =>
      chat.lastMessage?.parts
        .flatMap((part) => (part.type === "text" ? [part.text] : []))
        .join("") ?? "",
    runId: () => chat.lastMessage?.id.slice(0, 69) ?? "",
    repeat: async () => runOf(await ask(posted.at(-1) ?? "")),
  };
}

function agUiClient(version: AgentVersion): Client {
  const chat = openAgUi(version, (body) => postAgUi(body, "ann"));
  let count = 0;
  return {
    say: async (content) => {
      chat.agent.addMessage({ id: `m-${(count += 1)}`, role: "user", content });
      await chat.agent.runAgent();
    },
    text: () => {
      const last = chat.agent.messages.findLast(({ role }) => role === "assistant");
      return typeof last?.content === "string" ? last.content : "";
    },
    runId: () =>
      chat.agent.messages.findLast(({ id }) => id.startsWith("run_"))?.id.slice(0, 69) ?? "",
    repeat: async () => runOf(await postAgUi(chat.posted.at(-1) ?? "", "ann")),
  };
}

function responsesClient(): Client {
  const client = openAIOf("ann");
  let [id, text, body]: [string | undefined, string, object] = [undefined, "", {}];
  return {
    say: async (input) => {
      body = { input, ...(id !== undefined && { previous_response_id: id }) };
      const response = await client.responses.stream(body).finalResponse();
      ({ id, output_text: text } = response);
    },
    text: () => text,
    runId: () => id?.split(".")[0] ?? "",
    repeat: async () => (await client.responses.create(body as never)).id.split(".")[0] ?? "",
  };
}

async function runOf(answer: Response): Promise<string> {
  await answer.text();
  return answer.headers.get("x-run-id") ?? `${answer.status}`;
}

/** Each client, and a call for which it may be told other words: AG-UI waits for its questions. */
const CLIENTS: Readonly<Record<string, readonly [() => Client, Call]>> = {
  "useChat 7": [() => uiClient(7), NOTIFY],
  "useChat 6": [() => uiClient(6), NOTIFY],
  "HttpAgent 1.0.0": [() => agUiClient("1.0.0"), TRANSFER],
  "HttpAgent 0.0.59": [() => agUiClient("0.0.59"), TRANSFER],
  responses: [responsesClient, NOTIFY],
  "responses, for others": [responsesClient, TRANSFER],
};

const steps = (...all: readonly ScriptedStep[]): string => script(...all);
const saidIn = async (runId: string): Promise<readonly unknown[]> =>
  (await transcriptOf(runId, "ann")).flatMap((message) =>
    message.role === "user" ? [message.text] : [],
  );

describe.each(Object.keys(CLIENTS))("new words of %s", (name) => {
  const [open, call] = CLIENTS[name] ?? [responsesClient, NOTIFY];

  test("withdraw a call that waits, and are answered once in the same run", async () => {
    const client = open();
    const [first, other] = [steps({ calls: [call] }), steps({ text: ["I did not."] })];
    await client.say(first);
    const runId = client.runId();
    expect(openOf(await stateOf(runId, "ann"))).toHaveLength(1);
    await client.say(other);
    expect([client.text(), client.runId()]).toEqual(["I did not.", runId]);
    expect(openOf(await stateOf(runId, "ann"))).toEqual([]);
    await untilState(runId, { status: "completed" }, "ann");
    expect(await client.repeat()).toBe(runId);
    expect(await saidIn(runId)).toEqual([first, other]);
    await client.say(steps({ text: ["And on."] }));
    expect(client.text()).toBe("And on.");
    expect(client.runId()).not.toBe(runId);
    expect(moved).toEqual([]);
  });
});
