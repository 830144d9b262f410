import { describe, expect, test } from "vitest";
import { fitRequest } from "../../../src/adapters/model/fit-request.ts";
import type { ModelRequest } from "../../../src/capabilities/model.ts";
import type { AnswerSettings, ToolChoice } from "../../../src/protocol/model/answer-settings.ts";
import type { ModelAbilities, ModelDeclaration } from "../../../src/protocol/model/declaration.ts";
import { declareModel } from "../../../src/protocol/model/declare-model.ts";
import type { ToolSpec } from "../../../src/protocol/tool/spec.ts";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";

const ABLE: Partial<ModelAbilities> = {
  efforts: ["low", "high"],
  temperature: true,
  forcedTools: true,
};
const lamp = {
  name: "lamp__set",
  description: "Sets a lamp.",
  inputSchema: { type: "object" },
} as unknown as ToolSpec;
const WIRES = [openAIWire, responsesWire, anthropicWire];

function fit(
  settings: AnswerSettings,
  declared: Partial<ModelDeclaration> = {},
  tools: ModelRequest["tools"] = [lamp],
) {
  const model = declareModel({ id: "m", wire: "openai", can: ABLE, ...declared });
  return fitRequest({ model: "m", messages: [], tools, settings }, model);
}

function bodiesOf(settings: AnswerSettings): readonly unknown[] {
  const traits = { strictTools: false, maxTokensField: "max_tokens" } as const;
  return WIRES.map((wire) => wire.encodeRequest(fit(settings), traits).body);
}

describe("a setting of the request", () => {
  test("goes out on every wire in its own words", () => {
    expect(bodiesOf({ effort: "high", temperature: 0.5, toolChoice: "required" })).toMatchObject([
      { reasoning_effort: "high", temperature: 0.5, tool_choice: "required" },
      { reasoning: { effort: "high" }, temperature: 0.5, tool_choice: "required" },
      { output_config: { effort: "high" }, temperature: 0.5, tool_choice: { type: "any" } },
    ]);
    const choices = bodiesOf({ toolChoice: { tool: "lamp__set" } });
    expect(choices.map((body) => (body as { tool_choice: unknown }).tool_choice)).toEqual([
      { type: "function", function: { name: "lamp__set" } },
      { type: "function", name: "lamp__set" },
      { type: "tool", name: "lamp__set" },
    ]);
  });

  test("stays away from a model that cannot take it", () => {
    const settings: AnswerSettings = { effort: "high", temperature: 0, toolChoice: "required" };
    const fitted = fit(settings, { can: {} });
    for (const key of Object.keys(settings)) expect(fitted).not.toHaveProperty(key);
  });

  test("replaces the declared effort only by a level that the model has", () => {
    expect(fit({ effort: "high" }, { effort: "low" }).effort).toBe("high");
    expect(fit({ effort: "huge" }, { effort: "low" }).effort).toBe("low");
  });

  test.each<[string, ToolChoice, ModelRequest["tools"]]>([
    ["names a tool that the model is not offered", { tool: "other" }, [lamp]],
    ["chooses among no tools", "auto", []],
  ])("is left out where it %s", (_name, toolChoice, tools) => {
    expect(fit({ toolChoice }, {}, tools)).not.toHaveProperty("toolChoice");
  });
});

test("a model that takes no tools is offered none", () => {
  expect(fit({ toolChoice: "none" }, { can: { tools: false } })).toMatchObject({ tools: [] });
});

test("the provider gets its own name of the model, and reasoning stays with id and name", () => {
  expect(fit({}, { id: "fast", name: "gpt-6.1-terra" })).toMatchObject({
    model: "gpt-6.1-terra",
    author: "fast gpt-6.1-terra",
  });
  expect(fit({})).toMatchObject({ model: "m", author: "m" });
});
