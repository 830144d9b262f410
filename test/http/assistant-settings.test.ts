import { beforeAll, describe, expect, test } from "vitest";
import { putAssistant, seenBy, sendAssistant, type SeenRequest } from "../shared/assistants.ts";
import { bearer, deploy } from "../shared/identity.ts";
import { script } from "../fakes/scripted-model.ts";
import { TOKENS } from "../shared/tokens.ts";
import type { DeploymentChoices } from "../../src/compose/deployment.ts";
import { chunksOf, govern, postChat, seedPolicies } from "../shared/worker.ts";

beforeAll(seedPolicies);

const says = (content: string) => ({ role: "user", content });

async function seenUnder(document: object): Promise<SeenRequest> {
  await putAssistant("set", document);
  return seenBy(await postChat({ messages: [says("hi")], assistantId: "set" }));
}

describe("the settings of an assistant reach the provider on the wire", () => {
  const settings = { maxOutputTokens: 300, toolChoice: "required" } as const;

  test("openai", async () => {
    const seen = await seenUnder({ model: "gpt-4o", settings: { ...settings, temperature: 0.2 } });
    expect(seen).toMatchObject({
      temperature: 0.2,
      max_completion_tokens: 300,
      tool_choice: "required",
    });
  });

  test("responses", async () => {
    const model = "gpt-6.1-terra";
    const seen = await seenUnder({ model, settings: { ...settings, effort: "high" } });
    expect(seen).toMatchObject({
      reasoning: { effort: "high" },
      max_output_tokens: 300,
      tool_choice: "required",
    });
    const cool = await seenUnder({ model: "gpt-4.1", settings: { temperature: 0 } });
    expect(cool).toMatchObject({ temperature: 0 });
  });

  test("anthropic", async () => {
    const toolChoice = { tool: "core__calculate" };
    const seen = await seenUnder({
      model: "claude-haiku-4-5",
      settings: { temperature: 1, maxOutputTokens: 300, toolChoice },
    });
    expect(seen).toMatchObject({
      temperature: 1,
      max_tokens: 300,
      tool_choice: { type: "tool", name: "core__calculate" },
    });
  });
});

test("a forced choice of tools ends with the first call of a run", async () => {
  await putAssistant("forced", { model: "gpt-4o", settings: { toolChoice: "required" } });
  const calls = [{ name: "core__calculate", args: '{"expression":"1"}' }];
  const content = script({ calls }, { echoes: true });
  const chunks = await chunksOf(
    await postChat({ messages: [says(content)], assistantId: "forced" }),
  );
  const seen = chunks
    .filter(({ type }) => type === "text-delta")
    .map((chunk) => chunk["textDelta"]);
  expect(seen.join("")).toContain('"messages"');
  expect(seen.join("")).not.toContain("tool_choice");
});

test("the longest answer of an assistant never exceeds that of the policy", async () => {
  await govern({ allowedTools: [], budgets: { maxOutputTokens: 500 } });
  await putAssistant("long", { settings: { maxOutputTokens: 900 } }, "bendable");
  const long = { messages: [says("hi")], assistantId: "long" };
  expect(await seenBy(await postChat(long, "bendable"))).toMatchObject({
    max_completion_tokens: 500,
  });
});

describe("a setting that its model cannot take is refused with its field", () => {
  test.each([
    ["an effort", { model: "gpt-4o", settings: { effort: "high" } }, "/settings/effort"],
    [
      "an unknown effort",
      { model: "gpt-6.1-terra", settings: { effort: "vast" } },
      "/settings/effort",
    ],
    [
      "a temperature",
      { model: "gpt-6.1-terra", settings: { temperature: 1 } },
      "/settings/temperature",
    ],
    [
      "a forced tool",
      { model: "scripted", settings: { toolChoice: "required" } },
      "/settings/toolChoice",
    ],
    ["what one of several models lacks", { settings: { temperature: 1 } }, "/settings/temperature"],
    [
      "a forced tool that the assistant lacks",
      {
        model: "gpt-4o",
        toolIds: ["core__calculate"],
        settings: { toolChoice: { tool: "core__generate_title" } },
      },
      "/settings/toolChoice/tool",
    ],
    ["a temperature above 2", { settings: { temperature: 2.5 } }, "/settings/temperature"],
  ])("%s", async (_name, document, pointer) => {
    const refused = await sendAssistant("unfit", document);
    const { errors } = await refused.json<{ errors: unknown }>();
    expect([refused.status, errors]).toEqual([422, [expect.objectContaining({ pointer })]]);
  });
});

describe("an assistant that the deployment has outgrown is refused with its field", () => {
  test.each<[string, object, Partial<DeploymentChoices>, string]>([
    ["its model is gone", { model: "other" }, {}, "(/model)"],
    [
      "the model of its summaries is gone",
      { model: "gpt-4o", history: { summary: { model: "other" } } },
      {},
      "(/history/summary/model)",
    ],
    [
      "its model lost an ability",
      { model: "gpt-4o", settings: { temperature: 1 } },
      { models: [{ id: "gpt-4o", wire: "openai", can: { temperature: false } }] },
      "/settings/temperature",
    ],
  ])("%s", async (_name, document, parts, field) => {
    await putAssistant("outgrown", document);
    const body = JSON.stringify({ messages: [says("hi")], assistantId: "outgrown" });
    const asked = bearer(TOKENS.acme.token, { "content-type": "application/json" });
    const send = deploy({ MODELS: "gpt-4o" }, parts);
    const response = await send("/v1/chat", { ...asked, method: "POST", body });
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({
        code: "assistant_unusable",
        detail: expect.stringContaining(field),
      }),
    ]);
  });
});
