import { expect, test } from "vitest";
import { parseModels } from "../../../src/protocol/model/configured-model.ts";

test("a list names each model, its wire and its settings; a name alone is on the wire openai", () => {
  const text =
    "responses:gpt-6.1-terra?effort=low , anthropic:claude-sonnet-5,qwen3:8b," +
    "local?strictTools=false&maxTokensField=max_tokens";
  expect(parseModels(text)).toEqual([
    { id: "gpt-6.1-terra", wire: "responses", settings: { effort: "low" } },
    { id: "claude-sonnet-5", wire: "anthropic", settings: {} },
    { id: "qwen3:8b", wire: "openai", settings: {} },
    {
      id: "local",
      wire: "openai",
      settings: { strictTools: false, maxTokensField: "max_tokens" },
    },
  ]);
});

test.each([
  "",
  " , ",
  "responses:",
  "a,responses:a",
  "a?loud=1",
  "a?effort=",
  "a?strictTools=no",
  "a?maxTokensField=x",
  "a?effort=low?x",
])("the list %j is refused", (text) => {
  expect(parseModels(text)).toBeUndefined();
});
