import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CallIds } from "../../../src/loop/calls/call-ids.ts";
import { parseArguments, payloadOf } from "../../../src/protocol/tool/call.ts";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import type { ModelWire } from "../../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import { sampleOfRuns } from "../../shared/sample.ts";
import { bytesOf, decodePieces } from "./decode-stream.ts";

/** A call that the model made. */
interface Made {
  readonly name: string;
  readonly args: string;
}

/** One statement of a call in a stream: how the provider writes it this time. */
interface Telling {
  readonly call: number;
  /** Absent: the provider leaves the ids out. */
  readonly id: string | undefined;
  readonly hasIndex: boolean;
  readonly spaced: boolean;
  readonly pieces: number;
  /** Events that the provider leaves out or sends late. */
  readonly form: number;
}

/** What the provider writes at the end. */
interface Ending {
  readonly lists: "nothing" | "all" | "reversed";
  readonly ids: "same" | "new" | "none";
  readonly spaced: boolean;
  /** Sends what ends a call after what ends the answer's calls. */
  readonly isLate: boolean;
}

type Writer = (
  made: readonly Made[],
  told: readonly Telling[],
  ending: Ending,
) => readonly (object | string)[];

const textOf = ({ args }: Made, spaced: boolean): string =>
  spaced ? args.replaceAll(":", " : ").replace("{", "{ ") : args;

function cut(text: string, pieces: number): readonly string[] {
  const size = Math.ceil(text.length / pieces);
  return Array.from({ length: pieces }, (_, at) => text.slice(at * size, (at + 1) * size));
}

const writeResponses: Writer = (made, told, ending) => {
  const itemOf = (call: number, id: string | undefined, args: string) => ({
    type: "function_call",
    ...(id !== undefined && { id: `fc_${id}`, call_id: `call_${id}` }),
    name: made[call]?.name,
    arguments: args,
    status: "completed",
  });
  const events = told.flatMap(({ call, id, hasIndex, spaced, pieces, form }) => {
    const text = textOf(made[call] as Made, spaced);
    const at = hasIndex ? { output_index: call } : {};
    const ref = { ...at, ...(id !== undefined && { item_id: `fc_${id}` }) };
    const item = itemOf(call, id, text);
    const type = "response.function_call_arguments.delta";
    const deltas = cut(text, pieces).map((delta) => Object.assign({ type, delta }, ref));
    const added = { type: "response.output_item.added", ...at, item: { ...item, arguments: "" } };
    const whole = { type: "response.function_call_arguments.done", ...ref, arguments: text };
    const done = { type: "response.output_item.done", ...at, item };
    return [
      [added, ...deltas, whole, done],
      [added, ...deltas, done, whole],
      [done],
      [added, done],
    ][form % 4] as readonly object[];
  });
  const idOf = (call: number) =>
    ({ same: `first_${call}`, new: `end_${call}`, none: undefined })[ending.ids];
  const output = made.map((one, call) => itemOf(call, idOf(call), textOf(one, ending.spaced)));
  const listed = { nothing: [], all: output, reversed: output.toReversed() }[ending.lists];
  const response = { object: "response", status: "completed", output: listed };
  return [...events, { type: "response.completed", response }];
};

const writeAnthropic: Writer = (made, told, ending) => {
  const blocks = told.map(({ call, id, hasIndex, spaced, pieces }) => {
    const at = hasIndex ? { index: call } : {};
    const block = { type: "tool_use", id, name: made[call]?.name, input: {} };
    const type = "content_block_delta";
    const deltas = cut(textOf(made[call] as Made, spaced), pieces).map((partial_json) =>
      Object.assign({ type, delta: { type: "input_json_delta", partial_json } }, at),
    );
    const start = { type: "content_block_start", ...at, content_block: block };
    return [start, ...deltas, { type: "content_block_stop", ...at }];
  });
  const finish = { type: "message_delta", delta: { stop_reason: "tool_use" } };
  const last = blocks.at(-1) ?? [];
  const events = ending.isLate
    ? [...blocks.slice(0, -1), last.slice(0, -1), [finish], last.slice(-1)]
    : [...blocks, [finish]];
  return [{ type: "message_start", message: {} }, ...events.flat(), { type: "message_stop" }];
};

const writeChat: Writer = (made, told, ending) => {
  const chunk = (part: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, ...part, finish_reason }],
  });
  const chunks = told.map(({ call, id, hasIndex, spaced, pieces }) => {
    const at = hasIndex ? { index: call } : {};
    return cut(textOf(made[call] as Made, spaced), pieces).map((piece, number) => {
      const head = number === 0 ? { id, type: "function" } : {};
      const asked = { ...(number === 0 && { name: made[call]?.name }), arguments: piece };
      return chunk({ delta: { tool_calls: [{ ...at, ...head, function: asked }] } });
    });
  });
  const idOf = (call: number) =>
    ({ same: `first_${call}`, new: `end_${call}`, none: undefined })[ending.ids];
  const calls = made.map((one, call) => ({
    id: idOf(call),
    function: { name: one.name, arguments: textOf(one, ending.spaced) },
  }));
  const listed = { nothing: [], all: calls, reversed: calls.toReversed() }[ending.lists];
  const finish = chunk({ delta: {} }, "tool_calls");
  const whole = listed.length > 0 ? [chunk({ message: { tool_calls: listed } })] : [];
  const end = ending.isLate ? [finish, ...whole] : [...whole, finish];
  return [...chunks.flat(), ...end, "[DONE]"];
};

/** Counts the effects: the calls of the answer that run, each with its name and arguments. */
function effectsOf(wire: ModelWire, events: readonly (object | string)[]): readonly string[] {
  const lines = events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)));
  const sse = lines.map((line) => `data: ${line}\n\n`).join("");
  const { toolCalls } = decodePieces([bytesOf(sse)], { wire, toolNames: ["pay", "mail"] });
  return new CallIds([])
    .claim(toolCalls, 1)
    .filter((call) => parseArguments(call).ok)
    .map((call) => `${call.name} ${payloadOf(call)}`);
}

const countOf = (effects: readonly string[], effect: string): number =>
  effects.filter((one) => one === effect).length;

const made = fc.array(
  fc.record({
    name: fc.constantFrom("pay", "mail"),
    args: fc.constantFrom('{"to":"ann"}', '{"to":"bob"}', '{"sum":1,"to":"ann"}', "{}"),
  }),
  { minLength: 1, maxLength: 3 },
);
const telling = fc.record({
  call: fc.nat(2),
  ids: fc.constantFrom("same", "new", "none"),
  hasIndex: fc.boolean(),
  spaced: fc.boolean(),
  pieces: fc.integer({ min: 1, max: 3 }),
  form: fc.nat(3),
});
const ending = fc.record({
  lists: fc.constantFrom("nothing" as const, "all" as const, "reversed" as const),
  ids: fc.constantFrom("same" as const, "new" as const, "none" as const),
  spaced: fc.boolean(),
  isLate: fc.boolean(),
});
const scene = fc.record({
  made,
  ending,
  repeats: fc.array(telling, { maxLength: 3 }),
  hasIds: fc.boolean(),
  hasIndex: fc.boolean(),
  isTold: fc.boolean(),
  form: fc.nat(3),
});

describe.each<[string, ModelWire, Writer, boolean]>([
  ["openai", openAIWire, writeChat, true],
  ["responses", responsesWire, writeResponses, true],
  ["anthropic", anthropicWire, writeAnthropic, false],
])("a provider on the wire %s", (_, wire, write, canList) => {
  const first = (call: number, more: Partial<Telling> = {}): Telling => ({
    call,
    id: `first_${call}`,
    hasIndex: true,
    spaced: false,
    pieces: 2,
    form: 0,
    ...more,
  });
  const plain = { lists: canList ? "all" : "nothing", ids: "same", spaced: false } as const;

  test("that repeats, reorders or loses anything causes each effect once or not at all", () => {
    const holds = fc.property(scene, ({ made: calls, ending: end, repeats, ...said }) => {
      const { hasIds, hasIndex, form } = said;
      const told = calls.map((_call, at) =>
        first(at, { hasIndex, form, ...(!hasIds && { id: undefined }) }),
      );
      for (const [at, { call: any, ids, ...more }] of repeats.entries()) {
        const call = any % calls.length;
        const id = { same: told[call]?.id, new: `again_${at}`, none: undefined }[ids];
        told.push({ ...more, call, id });
      }
      const isTold = said.isTold || !canList || end.lists === "nothing";
      const effects = effectsOf(wire, write(calls, isTold ? told : [], end));
      const asked = calls.map((call) => `${call.name} ${call.args}`);
      for (const effect of new Set(effects)) {
        expect(countOf(effects, effect), effect).toBeLessThanOrEqual(countOf(asked, effect));
      }
    });
    fc.assert(holds, sampleOfRuns(3_000));
  });

  test("that only repeats itself, under the same or no ids, keeps every effect", () => {
    const holds = fc.property(made, fc.constantFrom("same", "none"), (calls, ids) => {
      const distinct = calls.map((call, at) => ({ ...call, args: `{"n":${at}}` }));
      const asked = distinct.map(({ name, args }) => `${name} ${args}`);
      const id = ids === "none" ? { id: undefined } : {};
      const told = distinct.flatMap((_call, at) => {
        const once = first(at, { pieces: 1, ...id });
        return [once, once];
      });
      const end = { ...plain, ids, isLate: false } as const;
      expect(effectsOf(wire, write(distinct, told, end)).toSorted()).toEqual(asked.toSorted());
    });
    fc.assert(holds, { numRuns: 200 });
  });

  test("that makes two equal calls at different places causes two effects", () => {
    const twice = [0, 1].map(() => ({ name: "pay", args: '{"to":"ann"}' }));
    const end = { ...plain, isLate: false };
    expect(effectsOf(wire, write(twice, [first(0), first(1)], end))).toHaveLength(2);
  });
});
