import { describe, expect, it } from "vitest";
import type { AiEvent } from "../../../src/protocol/run/event.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { parseInline } from "../../../src/widget/chat/inline-spans.ts";
import { appendText, EMPTY_TEXT, plainText, tailOf } from "../../../src/widget/chat/text-blocks.ts";
import {
  friendlyName,
  readFields,
  readOutcome,
  readProgress,
} from "../../../src/widget/chat/tool-outcome.ts";
import { type AnswerState, applyChunk, EMPTY_ANSWER } from "../../../src/widget/chat/view-state.ts";
import { toChunks } from "../../../src/wire/assistant-transport/encode-event.ts";
import * as say from "../run-events.ts";
import { askQuestion, vote } from "../scripted-approvals.ts";

function play(...events: readonly AiEvent[]): AnswerState {
  const chunks = events.flatMap(toChunks) as unknown as JsonObject[];
  return chunks.reduce(applyChunk, EMPTY_ANSWER);
}

function toolOf(state: AnswerState) {
  const [part] = state.parts;
  if (part?.kind !== "tool") throw new Error("no tool part");
  return part;
}

describe("a tool call", () => {
  const called = say.proposeTool(0, "core__get_current_time");
  const started = say.startTool(0, { time_zone: "Asia/Tokyo" });

  it("goes from called over running to done", () => {
    expect(toolOf(play(called)).state).toBe("called");
    expect(toolOf(play(called, started))).toMatchObject({
      state: "running",
      args: [{ label: "Time zone", value: "Asia/Tokyo" }],
    });
    const done = toolOf(play(called, started, say.finishTool(0, { hour: 21 })));
    expect(done.state).toBe("done");
    expect(done.outcome?.fields).toEqual([{ label: "Hour", value: "21" }]);
  });

  it("fails without having run, and says why", () => {
    const failed = toolOf(play(called, say.failTool(0, "Expected a zone.")));
    expect(failed.state).toBe("failed");
    expect(failed.outcome?.errors).toEqual(["Time zone: Expected a zone."]);
  });

  it("shows how far it is while it runs, and only then", () => {
    const at = (done: number) => say.reportProgress(0, { stage: "reading_files", done, total: 4 });
    expect(toolOf(play(called, at(1))).progress).toBeUndefined();
    expect(toolOf(play(called, started, at(1), at(3))).progress).toEqual({
      stage: "Reading files",
      share: 0.75,
    });
    const done = play(called, started, say.finishTool(0, { hour: 21 }), at(4));
    expect(toolOf(done).progress).toBeUndefined();
  });

  it("finds its progress among interleaved calls", () => {
    const other = say.proposeTool(1, "core__calculate");
    const state = play(called, other, say.startTool(1, {}), started, say.reportProgress(1, {}));
    expect(state.parts).toMatchObject([{ state: "running" }, { state: "running", progress: {} }]);
    expect(toolOf(state).progress).toBeUndefined();
  });

  it.each([
    [{ stage: 5, done: "1", total: null }, {}],
    [{ done: 1 }, {}],
    [{ done: 1, total: 0 }, {}],
    [{ done: -5, total: 2 }, { share: 0 }],
    [{ done: 9, total: 2, attempt: 1 }, { share: 1 }],
    [
      { stage: "x".repeat(500), attempt: 2 },
      { stage: `X${"x".repeat(59)}`, attempt: 2 },
    ],
  ])("reads the progress %j as far as it makes sense", (progress, shown) => {
    expect(readProgress(progress)).toEqual(shown);
  });

  it("keeps its first result", () => {
    const twice = play(called, started, say.finishTool(0, { hour: 21 }), say.failTool(0, "late"));
    expect(toolOf(twice).state).toBe("done");
  });
});

describe("a call in doubt", () => {
  const called = [say.proposeTool(0, "core__mail"), say.startTool(0, { to: "ann" })];
  const waiting = play(...called, say.awaitOutcome(0, 5_000));

  it("waits until somebody has told, and then ends like any other", () => {
    expect(toolOf(waiting)).toMatchObject({ state: "waiting", awaitedUntilMs: 5_000 });
    const told = play(...called, say.awaitOutcome(0, 5_000), say.finishTool(0, {}));
    expect(toolOf(told).state).toBe("done");
  });

  it("does not begin to wait once it has ended", () => {
    const ended = play(...called, say.finishTool(0, {}), say.awaitOutcome(0, 5_000));
    expect(toolOf(ended).state).toBe("done");
  });

  it("waits without a time where none makes sense", () => {
    const item = { type: "outcome-awaited", toolCallId: "call_0", until: "soon" };
    const state = applyChunk(play(...called), { type: "data", path: [], data: [item] });
    expect(toolOf(state).state).toBe("waiting");
    expect(toolOf(state).awaitedUntilMs).toBeUndefined();
  });

  it("is not called failed when nobody knows", () => {
    expect(readOutcome(say.expireTool(0).observation).isUnknown).toBe(true);
    expect(readOutcome(say.failTool(0, "no").observation).isUnknown).toBe(false);
  });
});

describe("a call that people are asked about", () => {
  const question = askQuestion();
  const later = { ...askQuestion({ id: "appr_a_b_1_2" }), generation: 2 };
  const called = say.proposeTool(0, "pay__refund");
  const asked = play(called, say.requestApproval(question), say.waitForPeople());

  it("waits with all that they are shown, and runs once they have agreed", () => {
    expect(toolOf(asked)).toMatchObject({ state: "asking", approval: { status: "pending" } });
    expect(toolOf(asked).approval?.lines.length).toBeGreaterThan(10);
    const approved = say.tellPeople({ ...question, status: "approved" });
    const going = play(called, say.requestApproval(question), approved);
    expect(toolOf(going).state).toBe("called");
    const ran = play(called, say.requestApproval(question), approved, say.startTool(0, { a: 1 }));
    expect(toolOf(ran)).toMatchObject({ state: "running", args: [{ label: "A", value: "1" }] });
  });

  it("goes on waiting while one of several has agreed, and keeps what it showed", () => {
    const votes = [vote("user:bob", "approve")];
    const one = play(called, say.requestApproval(question), say.tellPeople({ ...question, votes }));
    expect(toolOf(one)).toMatchObject({ state: "asking", approval: { approvals: 1 } });
    expect(toolOf(one).approval?.lines).toEqual(toolOf(asked).approval?.lines);
  });

  it("asks the newest question, whatever is still told of the one before", () => {
    const superseded = say.tellPeople({ ...question, status: "superseded" });
    const state = play(
      called,
      say.requestApproval(question),
      say.requestApproval(later),
      superseded,
    );
    expect(toolOf(state)).toMatchObject({ state: "asking", approval: { approvalId: later.id } });
  });

  // Mutant: joinNews takes whatever comes last.
  it("does not wait again for what was decided", () => {
    const rejected = say.tellPeople({ ...question, status: "rejected" });
    const state = play(called, say.requestApproval(question), rejected, say.tellPeople(question));
    expect(toolOf(state)).toMatchObject({ state: "called", approval: { status: "rejected" } });
  });

  it.each([
    [{ type: "approval-request", toolCallId: "call_0" }],
    [{ type: "approval-request", toolCallId: "call_0", approval: { approvalId: "a" } }],
    [{ type: "approval-update", toolCallId: "call_0", approval: null }],
    [{ type: "approval-request", toolCallId: "call_0", approval: [], lines: 5, packet: "x" }],
  ])("is not changed by %j", (item) => {
    const state = play(called);
    expect(applyChunk(state, { type: "data", path: [], data: [item] })).toEqual(state);
  });
});

describe("a withdrawn text", () => {
  const half = [say.startText(0), say.text(0, "half a secret"), say.finishText(0)];

  // Mutant: a withdrawal that changes nothing.
  it("leaves nothing of what it said, and nothing grows it again", () => {
    const state = play(...half, say.withdraw(0), say.text(0, "more"), say.startText(1));
    expect(state.parts).toMatchObject([
      { kind: "withdrawn", index: 0 },
      { kind: "text", index: 1 },
    ]);
    expect(JSON.stringify(state)).not.toMatch(/secret|more/);
  });

  it("takes no tool call with it", () => {
    const state = play(...half, say.proposeTool(1, "core__any"), say.withdraw(0, 1, 7));
    expect(state.parts).toMatchObject([{ kind: "withdrawn" }, { kind: "tool" }]);
  });
});

describe("a message to a running answer", () => {
  it("stands where it was said, and nothing grows it", () => {
    const state = play(
      say.startText(0),
      say.text(0, "one"),
      say.sayAsUser("and **Paris**?"),
      say.text(0, " more"),
      say.sayAsUser("hurry"),
      say.proposeTool(1, "core__any"),
    );
    expect(state.parts).toMatchObject([
      { kind: "text", index: 0 },
      { kind: "user", text: "and **Paris**?" },
      { kind: "user", text: "hurry" },
      { kind: "tool", index: 1 },
    ]);
    const [, first] = state.parts;
    const forged = { type: "text-delta", path: [first?.index ?? 0], textDelta: "x" };
    expect(applyChunk(state, forged)).toBe(state);
  });
});

describe("a run", () => {
  it("tells its id, model, title and end", () => {
    const state = play(
      { type: "run_started", runId: "run_1" as never, model: "m" },
      say.setTitle("Time"),
      say.end("error"),
    );
    expect(state).toMatchObject({
      runId: "run_1",
      model: "m",
      title: "Time",
      done: { reason: "error", code: "upstream", message: "The model could not be reached." },
    });
  });

  const strange: readonly JsonObject[] = [
    {},
    { type: 7 },
    { type: "constructor" },
    { type: "text-delta", path: [0], textDelta: "no such part" },
    { type: "text-delta", path: [0], textDelta: { not: "text" } },
    { type: "part-start", path: ["0"], part: { type: "text" } },
    { type: "part-start", path: [0], part: null },
    { type: "part-start", path: [0], part: { type: "hologram" } },
    { type: "result", path: [4_000_000_000], result: null },
    { type: "data", data: "text" },
    { type: "data", data: [{ type: "withdrawn" }, { type: "withdrawn", parts: "0" }] },
    { type: "data", data: [{ type: "outcome-awaited", toolCallId: "call_0" }] },
    { type: "data", data: [null, 1, { type: "title", title: 5 }, { type: "done" }] },
  ];
  it.each(strange.map((chunk) => [JSON.stringify(chunk), chunk] as const))(
    "is not changed by %s",
    (_, chunk) => {
      expect(applyChunk(EMPTY_ANSWER, chunk)).toEqual(EMPTY_ANSWER);
    },
  );
});

describe("streamed text", () => {
  const source =
    "# Title\nfirst\nsecond\n\n1. one\n2) two\n- point\n```js\n- not an item\n\n<b>\n```\nlast `";
  const blocks = [
    { kind: "heading", text: "Title" },
    { kind: "paragraph", text: "first\nsecond" },
    { kind: "item", ordinal: 1, text: "one" },
    { kind: "item", ordinal: 2, text: "two" },
    { kind: "item", ordinal: undefined, text: "point" },
    { kind: "code", text: "- not an item\n\n<b>\n", continued: false },
    { kind: "paragraph", text: "last `" },
  ];
  const read = (pieces: readonly string[]) => {
    const document = pieces.reduce(appendText, EMPTY_TEXT);
    return [...document.blocks.slice(0, document.closedCount), ...tailOf(document)];
  };

  it("gives the same blocks wherever it is split", () => {
    expect(read([source])).toEqual(blocks);
    expect(read(source.split(""))).toEqual(blocks);
    for (let at = 0; at <= source.length; at += 1) {
      expect(read([source.slice(0, at), source.slice(at)])).toEqual(blocks);
    }
  });

  it("does not change a former version", () => {
    const before = appendText(EMPTY_TEXT, "one\n\ntwo\n\nthree");
    const left = appendText(before, "\n\nleft\n\n");
    const right = appendText(before, "\n\nright\n\n");
    expect(plainText(before)).toBe("one\ntwo\nthree");
    expect(plainText(left)).toBe("one\ntwo\nthree\nleft");
    expect(plainText(right)).toBe("one\ntwo\nthree\nright");
  });

  it.each([
    ["one endless line", "x".repeat(200_000)],
    ["one endless line of pairs", "a" + "😀".repeat(50_000)],
    ["endless words", "word ".repeat(40_000)],
    ["endless code", `\`\`\`\n${"let x;\n".repeat(30_000)}`],
    ["endless lines", "line\n".repeat(40_000)],
  ])("keeps all of %s, in a tail of bounded size", (_, text) => {
    const pieces = text.match(/[\s\S]{1,777}/g) ?? [];
    const document = pieces.reduce(appendText, EMPTY_TEXT);
    const joined = read(pieces)
      .map((block) => block.text)
      .join("");
    const letters = (value: string) => value.replaceAll(/[\s`]/g, "");
    expect(letters(joined) === letters(text)).toBe(true);
    expect(document.closedCount).toBeGreaterThan(4);
    const tail = tailOf(document).reduce((sum, block) => sum + block.text.length, 0);
    expect(tail).toBeLessThan(40_000);
    expect(document.blocks.every((block) => block.text.isWellFormed())).toBe(true);
  });
});

describe("inline marks", () => {
  it("knows code and bold, and leaves links, HTML and loose marks as they are", () => {
    expect(parseInline("a `<b>` **c** [d](javascript:e) <i>f</i> ** ` **")).toEqual([
      { kind: "text", text: "a " },
      { kind: "code", text: "<b>" },
      { kind: "text", text: " " },
      { kind: "bold", text: "c" },
      { kind: "text", text: " [d](javascript:e) <i>f</i> ** ` **" },
    ]);
  });
});

describe("fields", () => {
  it.each([
    ["core__get_current_time", "Get current time"],
    ["calendar.listEvents", "Calendar list events"],
    ["", "Tool"],
  ])("names %j as %j", (id, name) => {
    expect(friendlyName(id)).toBe(name);
  });

  it("labels nested values by their path", () => {
    expect(readFields({ a: { bC: 1 }, list: [1, 2], rows: [{ x: true }], none: null })).toEqual([
      { label: "A › B c", value: "1" },
      { label: "List", value: "1, 2" },
      { label: "Rows › 1 › X", value: "Yes" },
      { label: "None", value: "None" },
    ]);
  });

  it("bounds what a hostile result can show", () => {
    const wide = readFields(
      Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])),
    );
    expect(wide.length).toBeLessThan(100);
    const deep = JSON.parse(`${'{"a":'.repeat(2000)}1${"}".repeat(2000)}`) as JsonObject;
    expect(readFields(deep)).toHaveLength(1);
    expect(readFields({ long: "x".repeat(1_000_000) })[0]?.value.length).toBeLessThan(20_000);
  });

  it("shows whatever is not an observation", () => {
    expect(readOutcome("plain").fields).toEqual([{ label: "Value", value: "plain" }]);
    expect(readOutcome({ result_payload: { errors: "no list", data: null } })).toEqual({
      fields: [],
      errors: [],
      warnings: [],
      isUnknown: false,
    });
  });
});
