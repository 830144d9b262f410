import { expect, test } from "vitest";
import { parseModelList } from "../../../src/protocol/model/model-list.ts";

test("a list names each model, its wire and its settings; a name alone is on the wire openai", () => {
  const text =
    "responses:gpt-6.1-terra?effort=low , anthropic:claude-sonnet-5,qwen3:8b," +
    "local?strictTools=false&maxTokensField=max_tokens,anthropic:b?summaries=true";
  expect(parseModelList(text, [])).toEqual([
    {
      id: "gpt-6.1-terra",
      wire: "responses",
      effort: "low",
      can: { efforts: ["low", "medium", "high"] },
    },
    { id: "claude-sonnet-5", wire: "anthropic", can: {} },
    { id: "qwen3:8b", wire: "openai", can: {} },
    {
      id: "local",
      wire: "openai",
      can: { strictTools: false, maxTokensField: "max_tokens" },
    },
    { id: "b", wire: "anthropic", summaries: true, can: {} },
  ]);
});

test("an effort in the list is one that the model takes, also where no family knows it", () => {
  const lists = ["local?effort=huge", "responses:gpt-6.1-terra?effort=none"];
  const efforts = lists.map((text) => parseModelList(text, [])?.[0]?.can?.efforts);
  expect(efforts).toEqual([["huge"], ["low", "medium", "high", "none"]]);
});

test("an id that the code declares is this declaration", () => {
  const declared = { id: "fast", wire: "anthropic", name: "claude-haiku-4-5" } as const;
  expect(parseModelList("fast,local", [declared])).toEqual([
    declared,
    { id: "local", wire: "openai", can: {} },
  ]);
});

test.each([
  "",
  " , ",
  "responses:",
  "a?loud=1",
  "a?effort=",
  "a?strictTools=no",
  "a?maxTokensField=x",
  "responses:a?summaries=1",
  "a?effort=low?x",
])("the list %j is refused", (text) => {
  expect(parseModelList(text, [])).toBeUndefined();
});
