import { afterAll, beforeAll, expect, test } from "vitest";
import { startOfflineModel } from "../../cli/offline/offline-model.ts";
import { loadScenarios } from "../../cli/offline/offline-scenarios.ts";
import { ProjectFolder } from "../shared/project-folder.ts";
import { declareModel } from "../../src/protocol/model/declare-model.ts";
import { createHttpModel } from "../../src/adapters/model/http-model.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import { anthropicWire } from "../../src/wire/anthropic/wire.ts";
import type { ModelWire } from "../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";
import { responsesWire } from "../../src/wire/responses/wire.ts";

let offline: Awaited<ReturnType<typeof startOfflineModel>>;
beforeAll(async () => {
  offline = await startOfflineModel();
});
afterAll(() => offline.stop());

async function ask(wire: ModelWire, messages: readonly TranscriptMessage[]): Promise<ModelAnswer> {
  const options = { baseUrl: offline.url, apiKey: "offline" };
  const declared = declareModel({ id: "offline", wire: wire.id });
  const model = createHttpModel({
    model: declared,
    wire,
    ...options,
    fetch: (request) => fetch(request),
  });
  const request = { model: "offline", messages, tools: [] };
  for await (const batch of model.stream(request, new AbortController().signal)) {
    const last = batch.at(-1);
    if (last?.type === "answer") return last.answer;
  }
  throw new Error("no answer");
}

test.each([openAIWire, responsesWire, anthropicWire])(
  "the offline model speaks the wire $id, with two tools at once",
  async (wire) => {
    const question = { role: "user", text: "What time is it in Tokyo and in Paris?" } as const;
    const first = await ask(wire, [question]);
    expect(first.toolCalls.map(({ argumentsText }) => argumentsText)).toEqual([
      '{"timeZone":"Asia/Tokyo"}',
      '{"timeZone":"Europe/Paris"}',
    ]);
    const { text, toolCalls } = first;
    const results = toolCalls.map(({ toolCallId, name }, at) => ({
      role: "tool" as const,
      toolCallId,
      name,
      result: { result_payload: { data: { inWords: `${at + 1} o'clock` } } },
    }));
    const second = await ask(wire, [question, { role: "assistant", text, toolCalls }, ...results]);
    expect([second.finish, second.text]).toEqual([
      "stop",
      "Right now in Tokyo it is 1 o'clock, and in Paris it is 2 o'clock.",
    ]);
  },
);

test.each([
  ["gone.ts", undefined, "--offline: there is no gone.ts."],
  ["none.ts", "export const scenarios = [];", "none.ts: the default export is no list"],
  ["odd.ts", 'export default [{ name: "a", asked: "b", steps: [() => 1] }];', "(at 0.asked)"],
  ["empty.ts", 'export default [{ name: "a", asked: /b/, steps: [] }];', "(at 0.steps)"],
])("%s, which is no list of offline scenarios, is refused with its fault", async (...row) => {
  const [file, content, said] = row;
  using project = new ProjectFolder();
  project.write("wrangler.toml", "");
  if (content !== undefined) project.write(file, content);
  await expect(loadScenarios(project.path, file)).rejects.toThrow(said);
});
