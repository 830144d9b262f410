import { beforeAll, beforeEach, expect, test } from "vitest";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { transcriptOf } from "../shared/run-object.ts";
import { chat, runIdOf, seedPolicies, stateOf } from "../shared/worker.ts";
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
