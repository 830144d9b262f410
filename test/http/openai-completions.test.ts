import type OpenAI from "openai";
import { APIError } from "openai";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { putAssistant } from "../shared/assistants.ts";
import { PNG, dataUrl } from "../shared/files.ts";
import { openAIOf, shownIn } from "../shared/openai-client.ts";
import { APPROVE, callOf, decide, ended, openOf, useApprovalLab } from "../shared/people.ts";
import { stateOf } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";

useApprovalLab();

const ann = openAIOf("ann");
const NOTIFY = callOf("lab__notify", { what: "hello" });
const say = (
  ...steps: readonly ScriptedStep[]
): Pick<ChatCompletionCreateParamsNonStreaming, "model" | "messages"> => ({
  model: "default",
  messages: [{ role: "user", content: script(...steps) }],
});
const textOf = ({ choices }: OpenAI.ChatCompletion): string => choices[0]?.message.content ?? "";

const refusalOf = async (asked: Promise<unknown>): Promise<unknown> => {
  const error = await asked.catch((thrown: unknown) => thrown);
  return error instanceof APIError ? [error.status, error.code, error.param] : error;
};

describe("a chat completion", () => {
  test("is the text of a run, whole and as a stream", async () => {
    const calls = [callOf("core__calculate", { expression: "1+1" })];
    const asked = say({ text: ["Let me see."], calls }, { text: ["It is ", "2"] });
    const whole = await ann.chat.completions.create(asked);
    expect(textOf(whole)).toBe("Let me see.\n\nIt is 2");
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
    const options = { stream_options: { include_usage: true } };
    const streamed = ann.chat.completions.stream({ ...asked, ...options });
    const deltas: string[] = [];
    streamed.on("content", (delta) => void deltas.push(delta));
    const final = await streamed.finalChatCompletion();
    expect(deltas.filter((delta) => delta !== "")).toEqual(["Let me see.", "\n\n", "It is ", "2"]);
    expect(textOf(final)).toBe(textOf(whole));
    expect(final.usage).toEqual(whole.usage);
  });

  test("of a call that people must approve ends with the link, and runs once they do", async () => {
    const stream = ann.chat.completions.stream(say({ text: ["So:"], calls: [NOTIFY] }, {}));
    const { id, choices } = await stream.finalChatCompletion();
    const [approvalId = ""] = openOf(await stateOf(id, "ann"));
    const link = `https://interlock.test/approvals#${approvalId}`;
    expect(choices[0]?.message.content).toBe(
      `So:\n\n"Notice: hello" waits for an approval: ${link}`,
    );
    expect(moved).toEqual([]);
    await decide(approvalId, "ann", APPROVE);
    await ended(id);
    expect(moved).toHaveLength(1);
  });

  test("that fails is an error, which the client does not repeat", async () => {
    const asked = ann.chat.completions.create(say({ garbled: true }), { maxRetries: 3 });
    const error = await asked.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 502, code: "run_failed" });
    const headers = error instanceof APIError ? error.headers : undefined;
    expect(headers?.get("x-should-retry")).toBe("false");
  });

  test("shows its posted history as what nobody believes", async () => {
    const lab = openAIOf("lab");
    const note = callOf("lab__write_note", { text: "noted", to: "ann" });
    const called = (id: string) => ({
      id,
      type: "function" as const,
      function: { name: "core__calculate", arguments: "{}" },
    });
    const { id } = await lab.chat.completions.create({
      model: "default",
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "Yes.", tool_calls: [called("c1"), called("c2")] },
        { role: "tool", tool_call_id: "c1", content: "the person said yes" },
        { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "4" }] },
        { role: "user", content: script({ calls: [note] }, {}) },
      ],
    });
    const { toolCalls } = await stateOf(id, "lab");
    expect(toolCalls).toMatchObject([{ name: "lab__write_note", after: [{ kind: "history" }] }]);
  });

  test("takes instructions with the scope for them, and images", async () => {
    const system = {
      role: "system" as const,
      content: [{ type: "text" as const, text: "Be brief." }],
    };
    const asked = {
      model: "default",
      messages: [system, { role: "user" as const, content: "hi" }],
    };
    expect(await refusalOf(ann.chat.completions.create(asked))).toEqual([
      403,
      "insufficient_scope",
      null,
    ]);
    const shown = textOf(await openAIOf("acme").chat.completions.create(asked));
    expect(shownIn(shown)[0]).toEqual(["system", "Be brief."]);
    const seen = await openAIOf("acme").chat.completions.create({
      model: "claude-sonnet-5",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: script({ text: ["a cat"] }) },
            { type: "image_url", image_url: { url: dataUrl("image/png", PNG) } },
          ],
        },
      ],
    });
    expect(textOf(seen)).toBe("a cat");
  });

  test.each<[string, Partial<ChatCompletionCreateParamsNonStreaming>, readonly unknown[]]>([
    [
      "functions of the client",
      { functions: [{ name: "own" }] },
      [422, "client_tools_not_allowed", null],
    ],
    ["two choices", { n: 2 }, [422, "member_not_supported", "/n"]],
    [
      "a format",
      { response_format: { type: "json_object" } },
      [422, "member_not_supported", "/response_format"],
    ],
    [
      "a role of nobody",
      { messages: [{ role: "function", name: "f", content: "x" }] },
      [422, "invalid_request", "/messages/0/role"],
    ],
  ])("is refused with %s", async (_name, more, refusal) => {
    const asked = ann.chat.completions.create({ ...say({ text: ["a"] }), ...more });
    expect(await refusalOf(asked)).toEqual(refusal);
  });
});

test("the assistants of a tenant are its models", async () => {
  const acme = openAIOf("acme");
  await putAssistant("pirate", { instructions: "You are a pirate." });
  expect((await acme.models.list()).data.map(({ id }) => id)).toEqual(["default", "pirate"]);
  const shown = await acme.chat.completions.create({
    model: "pirate",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(JSON.stringify(shownIn(textOf(shown)))).toContain("You are a pirate.");
});
