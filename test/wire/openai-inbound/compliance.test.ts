import * as v from "valibot";
import { beforeAll, describe, expect, test } from "vitest";
import { script } from "../../fakes/scripted-model.ts";
import { dataUrl, PNG } from "../../shared/files.ts";
import { callOf } from "../../shared/people.ts";
import { seedPolicies, send } from "../../shared/worker.ts";

/**
 * The cases of the compliance suite of Open Responses, and the shapes that it checks.
 * Source: github.com/openresponses/openresponses, src/lib/compliance-tests.ts and schema,
 * read 2026-11-27. A scripted model calls the tool where the suite expects that a model does.
 */
beforeAll(seedPolicies);

const whole = v.pipe(v.number(), v.integer());
const text = v.nullable(v.string());
const outputText = v.object({
  type: v.literal("output_text"),
  text: v.string(),
  annotations: v.array(v.unknown()),
  logprobs: v.array(v.unknown()),
});
const message = v.object({
  type: v.literal("message"),
  id: v.string(),
  status: v.picklist(["in_progress", "completed", "incomplete"]),
  role: v.literal("assistant"),
  content: v.array(outputText),
});

const functionCall = v.object({
  type: v.literal("function_call"),
  id: v.string(),
  call_id: v.string(),
  name: v.string(),
  arguments: v.string(),
  status: v.picklist(["in_progress", "completed", "incomplete"]),
});
const item = v.variant("type", [message, functionCall]);

/** Every member is demanded, also where it is null. */
const resource = v.object({
  id: v.string(),
  object: v.literal("response"),
  created_at: whole,
  completed_at: v.nullable(whole),
  status: v.string(),
  incomplete_details: v.nullable(v.object({ reason: v.string() })),
  model: v.string(),
  previous_response_id: text,
  instructions: v.nullable(v.union([v.string(), v.array(v.unknown())])),
  output: v.array(item),
  error: v.nullable(v.object({ code: v.string(), message: v.string() })),
  tools: v.array(v.unknown()),
  tool_choice: v.picklist(["none", "auto", "required"]),
  truncation: v.picklist(["auto", "disabled"]),
  parallel_tool_calls: v.boolean(),
  text: v.object({ format: v.object({ type: v.literal("text") }) }),
  top_p: v.number(),
  presence_penalty: v.number(),
  frequency_penalty: v.number(),
  top_logprobs: whole,
  temperature: v.number(),
  reasoning: v.nullable(v.unknown()),
  user: text,
  usage: v.nullable(
    v.object({
      input_tokens: whole,
      output_tokens: whole,
      total_tokens: whole,
      input_tokens_details: v.object({ cached_tokens: whole }),
      output_tokens_details: v.object({ reasoning_tokens: whole }),
    }),
  ),
  max_output_tokens: v.nullable(whole),
  max_tool_calls: v.nullable(whole),
  store: v.boolean(),
  background: v.boolean(),
  service_tier: v.string(),
  metadata: v.nullable(v.unknown()),
  safety_identifier: text,
  prompt_cache_key: text,
});

const numbered = { sequence_number: whole };
const ofCall = { ...numbered, item_id: v.string(), output_index: whole };
const ofItem = { ...ofCall, content_index: whole };
const lifecycle = <Type extends string>(type: Type) =>
  v.object({ ...numbered, type: v.literal(type), response: resource });
const event = v.variant("type", [
  lifecycle("response.created"),
  lifecycle("response.in_progress"),
  lifecycle("response.completed"),
  ...(["response.output_item.added", "response.output_item.done"] as const).map((type) =>
    v.object({ ...numbered, type: v.literal(type), output_index: whole, item }),
  ),
  ...(["response.content_part.added", "response.content_part.done"] as const).map((type) =>
    v.object({ ...ofItem, type: v.literal(type), part: outputText }),
  ),
  v.object({
    ...ofCall,
    type: v.literal("response.function_call_arguments.delta"),
    delta: v.string(),
  }),
  v.object({
    ...ofCall,
    type: v.literal("response.function_call_arguments.done"),
    arguments: v.string(),
  }),
  v.object({
    ...ofItem,
    type: v.literal("response.output_text.delta"),
    delta: v.string(),
    logprobs: v.array(v.unknown()),
  }),
  v.object({
    ...ofItem,
    type: v.literal("response.output_text.done"),
    text: v.string(),
    logprobs: v.array(v.unknown()),
  }),
]);

const post = (input: readonly object[], more: object = {}): Promise<Response> =>
  send("/v1/responses", {
    caller: "acme",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-sonnet-5", input, stream: false, ...more }),
  });

const says = (role: string, content: unknown) => ({ type: "message", role, content });

describe("the compliance suite of Open Responses", () => {
  test.each<[string, readonly object[]]>([
    ["basic-response", [says("user", "Say hello in exactly 3 words.")]],
    ["system-prompt", [says("system", "You are a pirate."), says("user", "Say hello.")]],
    [
      "image-input",
      [
        says("user", [
          { type: "input_text", text: "What do you see?" },
          { type: "input_image", image_url: dataUrl("image/png", PNG) },
        ]),
      ],
    ],
    [
      "multi-turn",
      [
        says("user", "My name is Alice."),
        says("assistant", "Hello Alice!"),
        says("user", "What is my name?"),
      ],
    ],
  ])("%s", async (_id, input) => {
    const answer = await post(input);
    expect(answer.status).toBe(200);
    const { status, output } = v.parse(resource, await answer.json());
    expect(status).toBe("completed");
    expect(output.length).toBeGreaterThan(0);
  });

  const eventsOf = async (answer: Response) =>
    (await answer.text()).split("\n\n").flatMap((frame) => {
      const [, data = "[DONE]"] = /^data: (.*)$/m.exec(frame) ?? [];
      return data === "[DONE]" ? [] : [v.parse(event, JSON.parse(data))];
    });

  test("streaming-response", async () => {
    const input = [says("user", "Count from 1 to 5.")];
    const last = (await eventsOf(await post(input, { stream: true }))).at(-1);
    expect(last?.type === "response.completed" && last.response.status).toBe("completed");
  });

  const weather = callOf("get_weather", { location: "San Francisco, CA" });
  const asksWeather = [says("user", script({ calls: [weather] }))];
  const location = { type: "string", description: "The city and state, e.g. San Francisco, CA" };
  const tools = [
    {
      type: "function",
      name: "get_weather",
      description: "Get the current weather for a location",
      parameters: { type: "object", properties: { location }, required: ["location"] },
    },
  ];

  test("tool-calling", async () => {
    const { output } = v.parse(resource, await (await post(asksWeather, { tools })).json());
    expect(output).toMatchObject([{ type: "function_call", name: "get_weather" }]);
  });

  test("tool-calling-streaming", async () => {
    const events = await eventsOf(await post(asksWeather, { tools, stream: true }));
    const ofCalls = events.flatMap((one) =>
      ("item" in one && one.item.type === "function_call") || one.type.includes("function_call")
        ? [one.type]
        : [],
    );
    expect(ofCalls).toEqual([
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
    ]);
    expect(events.at(-1)?.type).toBe("response.completed");
  });
});
