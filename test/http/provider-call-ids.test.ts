import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { REPETITIONS } from "../fakes/repeated-frames.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { cancel, transcriptOf, untilState } from "../shared/run-object.ts";
import { chat, postChat, runIdOf, seedPolicies, stateOf } from "../shared/worker.ts";
import { effects } from "../workers/lab-tools.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
});

type Call = NonNullable<ScriptedStep["calls"]>[number];
const note = (id: string, args: string): Call => ({ id, name: "lab__write_note", args });

interface Seen {
  readonly stream: string;
  readonly keys: number;
  /** Ids of the calls and of the results, as the provider gets them in its next request. */
  readonly asked: readonly string[];
  readonly answered: readonly string[];
}

async function runStep(...calls: readonly Call[]): Promise<Seen> {
  const response = await chat([{ calls }, { text: ["end"] }], "lab");
  const runId = runIdOf(response);
  const stream = await response.text();
  const { toolCalls } = await stateOf(runId, "lab");
  const messages = await transcriptOf(runId, "lab");
  return {
    stream,
    keys: new Set(toolCalls.map((call) => call.idempotencyKeyHash)).size,
    asked: messages.flatMap((message) =>
      message.role === "assistant" ? message.toolCalls.map((call) => call.toolCallId) : [],
    ),
    answered: messages.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])),
  };
}

test.each([
  ["in the same text", '{"text":"rent","to":"ann"}'],
  ["with other spaces", ' { "text" : "rent", "to": "ann" }\n'],
  ["in another order", '{"to":"ann","text":"rent"}'],
  ["with an escaped letter", '{"text":"\\u0072ent","to":"ann"}'],
])("a call that a step repeats under its id, %s, is one operation", async (_how, again) => {
  const first = note("same", '{"text":"rent","to":"ann"}');
  const seen = await runStep(first, note("same", again), first);
  expect(effects).toEqual(["note: rent"]);
  expect(seen).toMatchObject({ keys: 1, asked: ["same"], answered: ["same"] });
});

test("another payload under the id of a call is another operation, with an id of its own", async () => {
  const one = note("same", '{"text":"one","to":"ann"}');
  const two = note("same", '{"text":"two","to":"ann"}');
  const seen = await runStep(one, two, one, two);
  expect(effects).toEqual(["note: one", "note: two"]);
  const ids = ["same", "call_1_1"];
  expect(seen).toMatchObject({ keys: 2, asked: ids, answered: ids });
});

test("equal calls under two ids are two operations", async () => {
  const args = '{"text":"rent","to":"ann"}';
  const seen = await runStep(note("a", args), note("b", args));
  expect(effects).toEqual(["note: rent", "note: rent"]);
  expect(seen).toMatchObject({ keys: 2, asked: ["a", "b"], answered: ["a", "b"] });
});

test("a call whose id looks like a secret runs under another id, and the id is told to nobody", async () => {
  const id = "sk-canaryabcdefgh12345678";
  const seen = await runStep(note(id, '{"text":"rent","to":"ann"}'));
  expect(effects).toEqual(["note: rent"]);
  expect(seen).toMatchObject({ asked: ["call_1_0"], answered: ["call_1_0"] });
  expect(seen.stream).not.toContain("canary");
});

const ask = (model: string, ...steps: readonly ScriptedStep[]): Promise<Response> =>
  postChat({ model, messages: [{ role: "user", content: script(...steps) }] }, "lab");

describe.each(["scripted", "scripted-r", "scripted-a"])("a provider (%s) that repeats", (model) => {
  test.each(REPETITIONS)("its calls (%s) causes each effect once", async (repeats) => {
    const calls = ["rent", "rent", "food"].map((text, at) =>
      note(`call_${at}`, `{"text":"${text}","to":"ann"}`),
    );
    await (await ask(model, { calls, repeats }, { text: ["end"] })).text();
    expect(effects.toSorted()).toEqual(["note: food", "note: rent", "note: rent"]);
  });
});

const RENT = '{"text":"rent","to":"ann"}';

/** An item of the wire Responses; without ids, as some servers send it. */
const itemOf = (more: object = {}) => ({
  type: "function_call",
  name: "lab__write_note",
  arguments: RENT,
  status: "completed",
  ...more,
});
const at = (type: string, item: object, more: object = {}) => ({
  type: `response.output_item.${type}`,
  output_index: 0,
  item,
  ...more,
});
const ended = (...output: readonly object[]) => ({
  type: "response.completed",
  response: { object: "response", status: "completed", output },
});
const added = at("added", itemOf({ arguments: "", status: "in_progress" }));
const done = at("done", itemOf());
const IDS = { id: "fc_1", call_id: "a" };
const NEW_IDS = { id: "fc_2", call_id: "b" };
const NO_PLACE = { output_index: undefined };

test.each<[string, readonly string[], readonly object[]]>([
  ["ids nowhere", ["note: rent"], [added, done, ended(itemOf())]],
  ["ids in the terminal event alone", ["note: rent"], [added, done, ended(itemOf(IDS))]],
  ["all twice, without ids", ["note: rent"], [added, done, added, done, ended(itemOf())]],
  [
    "the item done again under new ids",
    ["note: rent"],
    [at("done", itemOf(IDS)), at("done", itemOf(NEW_IDS)), ended()],
  ],
  [
    "the item done again under new ids, without a place",
    [],
    [at("done", itemOf(IDS), NO_PLACE), at("done", itemOf(NEW_IDS), NO_PLACE), ended()],
  ],
  [
    "a call listed twice that the stream has once",
    [],
    [at("done", itemOf(IDS)), ended(itemOf(IDS), itemOf(NEW_IDS))],
  ],
  ["other arguments at the end", [], [done, ended(itemOf({ arguments: '{"text":"all"}' }))]],
])("Responses with %s", async (_how, expected, events) => {
  const response = await ask("scripted-r", { events }, { text: ["end"] });
  await response.text();
  expect(effects).toEqual(expected);
  const { error } = await stateOf(runIdOf(response), "lab");
  expect(error?.code).toBe(expected.length > 0 ? undefined : "upstream_ambiguous");
});

test("a payment that a provider repeats asks people once", async () => {
  const calls = [
    { id: "call_0", name: "lab__send_mail", args: '{"to":"ann@ok.test","text":"hi"}' },
  ];
  const response = await ask("scripted-r", { calls, repeats: "listed_under_new_ids" });
  await untilState(runIdOf(response), { status: "waiting" });
  const { toolCalls } = await stateOf(runIdOf(response), "lab");
  expect(toolCalls).toHaveLength(1);
  await cancel(runIdOf(response));
});

describe("a call whose arguments never arrived", () => {
  const greet = { ...itemOf({ name: "lab__greet", arguments: "", status: "in_progress" }), ...IDS };
  const block = { type: "tool_use", id: "a", name: "lab__greet", input: {} };
  const message = (...rest: readonly object[]) => [
    { type: "message_start", message: {} },
    { type: "content_block_start", index: 0, content_block: block },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: "" },
    },
    { type: "content_block_stop", index: 0 },
    ...rest,
    { type: "message_stop" },
  ];
  const stop = (stop_reason: string) => ({ type: "message_delta", delta: { stop_reason } });
  const asked = { index: 0, id: "a", function: { name: "lab__greet" } };
  const chunk = (finish_reason: string | null) => ({
    choices: [{ index: 0, delta: { tool_calls: [asked] }, finish_reason }],
  });

  test.each<[string, boolean, string, ScriptedStep["events"]]>([
    ["that is not done", false, "scripted-r", [at("added", greet), ended()]],
    ["that the end lists in progress", false, "scripted-r", [ended(greet)]],
    ["that is completed", true, "scripted-r", [ended({ ...greet, status: "completed" })]],
    ["without a stop reason", false, "scripted-a", message()],
    ["at a token limit", false, "scripted-a", message(stop("max_tokens"))],
    ["before a good end", true, "scripted-a", message(stop("tool_use"))],
    ["without a finish", false, "scripted", [chunk(null), "[DONE]"]],
    ["before a finish", true, "scripted", [chunk("tool_calls"), "[DONE]"]],
  ])("%s runs: %s (%s)", async (_how, runs, model, events = []) => {
    const stream = await (await ask(model, { events }, { text: ["end"] })).text();
    expect(stream.includes('"greeting"')).toBe(runs);
  });
});
