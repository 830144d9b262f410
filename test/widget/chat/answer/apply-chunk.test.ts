import { describe, expect, it } from "vitest";
import type { AiEvent } from "../../../../src/protocol/run/event.ts";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { type AnswerState, EMPTY_ANSWER } from "../../../../src/widget/chat/answer/answer.ts";
import { applyChunk } from "../../../../src/widget/chat/answer/apply-chunk.ts";
import { toChunks } from "../../../../src/wire/assistant-transport/encode-event.ts";
import * as say from "../../run-events.ts";
import { createApproval, vote } from "../../scripted-approvals.ts";

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

  it("goes from requested through running to done", () => {
    expect(toolOf(play(called)).state).toBe("requested");
    expect(toolOf(play(called, started))).toMatchObject({
      state: "running",
      args: [{ label: "Time zone", value: "Asia/Tokyo" }],
    });
    const done = toolOf(play(called, started, say.finishTool(0, { hour: 21 })));
    expect(done.state).toBe("done");
    expect(done.outcome?.data).toEqual({ hour: 21 });
  });

  it("has the name for people of its tool, as the stream tells it", () => {
    const titled = { ...say.proposeTool(0, "lab__peek"), title: "Private records" };
    expect(toolOf(play(titled))).toMatchObject({ toolName: "lab__peek", title: "Private records" });
    expect(toolOf(play(called))).not.toHaveProperty("title");
  });

  it("fails without running, and shows why", () => {
    const failed = toolOf(play(called, say.failTool(0, "Expected a zone.")));
    expect(failed.state).toBe("failed");
    expect(failed.outcome?.errors).toEqual(["Time zone: Expected a zone."]);
  });

  it("shows its progress only while it runs", () => {
    const at = (done: number) => say.reportProgress(0, { stage: "reading_files", done, total: 4 });
    expect(toolOf(play(called, at(1))).progress).toBeUndefined();
    expect(toolOf(play(called, started, at(1), at(3))).progress).toEqual({
      stage: "Reading files",
      share: 0.75,
    });
    const done = play(called, started, say.finishTool(0, { hour: 21 }), at(4));
    expect(toolOf(done).progress).toBeUndefined();
  });

  it("gets its own progress when calls are interleaved", () => {
    const other = say.proposeTool(1, "core__calculate");
    const state = play(called, other, say.startTool(1, {}), started, say.reportProgress(1, {}));
    expect(state.parts).toMatchObject([{ state: "running" }, { state: "running", progress: {} }]);
    expect(toolOf(state).progress).toBeUndefined();
  });

  it("keeps its first result", () => {
    const twice = play(called, started, say.finishTool(0, { hour: 21 }), say.failTool(0, "late"));
    expect(toolOf(twice).state).toBe("done");
  });
});

describe("a call with an unknown outcome", () => {
  const called = [say.proposeTool(0, "core__mail"), say.startTool(0, { to: "ann" })];
  const waiting = play(...called, say.awaitOutcome(0, 5_000));

  it("waits for an operator until its result arrives", () => {
    expect(toolOf(waiting)).toMatchObject({ state: "awaiting_operator", resolveUntilMs: 5_000 });
    const told = play(...called, say.awaitOutcome(0, 5_000), say.finishTool(0, {}));
    expect(toolOf(told).state).toBe("done");
  });

  it("does not wait for an operator once it has a result", () => {
    const ended = play(...called, say.finishTool(0, {}), say.awaitOutcome(0, 5_000));
    expect(toolOf(ended).state).toBe("done");
  });

  it("waits without a deadline when the deadline is not a date", () => {
    const item = { type: "outcome-awaited", toolCallId: "call_0", until: "soon" };
    const state = applyChunk(play(...called), { type: "data", path: [], data: [item] });
    expect(toolOf(state).state).toBe("awaiting_operator");
    expect(toolOf(state).resolveUntilMs).toBeUndefined();
  });
});

describe("a call that needs an approval", () => {
  const question = createApproval();
  const later = { ...createApproval({ id: "appr_a_b_1_2" }), generation: 2 };
  const called = say.proposeTool(0, "pay__refund");
  const asked = play(called, say.requestApproval(question), say.waitForApproval());

  it("waits with the whole packet, and runs once the approval is complete", () => {
    expect(toolOf(asked)).toMatchObject({
      state: "awaiting_approval",
      approval: { status: "pending" },
    });
    expect(toolOf(asked).approval?.lines.length).toBeGreaterThan(10);
    const approved = say.updateApproval({ ...question, status: "approved" });
    const going = play(called, say.requestApproval(question), approved);
    expect(toolOf(going).state).toBe("requested");
    const ran = play(called, say.requestApproval(question), approved, say.startTool(0, { a: 1 }));
    expect(toolOf(ran)).toMatchObject({ state: "running", args: [{ label: "A", value: "1" }] });
  });

  it("keeps waiting, with its packet, after the first of several votes", () => {
    const votes = [vote("user:bob", "approve")];
    const one = play(
      called,
      say.requestApproval(question),
      say.updateApproval({ ...question, votes }),
    );
    expect(toolOf(one)).toMatchObject({ state: "awaiting_approval", approval: { approvals: 1 } });
    expect(toolOf(one).approval?.lines).toEqual(toolOf(asked).approval?.lines);
  });

  it("shows the newest approval, and ignores later news of the one it replaced", () => {
    const superseded = say.updateApproval({ ...question, status: "superseded" });
    const state = play(
      called,
      say.requestApproval(question),
      say.requestApproval(later),
      superseded,
    );
    expect(toolOf(state)).toMatchObject({
      state: "awaiting_approval",
      approval: { approvalId: later.id },
    });
  });

  it("stays decided when older news arrives later", () => {
    const rejected = say.updateApproval({ ...question, status: "rejected" });
    const state = play(
      called,
      say.requestApproval(question),
      rejected,
      say.updateApproval(question),
    );
    expect(toolOf(state)).toMatchObject({ state: "requested", approval: { status: "rejected" } });
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

  it("keeps none of its text, and no later delta grows it", () => {
    const state = play(...half, say.withdraw(0), say.text(0, "more"), say.startText(1));
    expect(state.parts).toMatchObject([
      { kind: "withdrawn", index: 0 },
      { kind: "text", index: 1 },
    ]);
    expect(JSON.stringify(state)).not.toMatch(/secret|more/);
  });

  it("does not remove a tool call", () => {
    const state = play(...half, say.proposeTool(1, "core__any"), say.withdraw(0, 1, 7));
    expect(state.parts).toMatchObject([{ kind: "withdrawn" }, { kind: "tool" }]);
  });
});

describe("a steering message", () => {
  it("stays where the reader sent it, and no delta grows it", () => {
    const state = play(
      say.startText(0),
      say.text(0, "one"),
      say.addUserMessage("and **Paris**?"),
      say.text(0, " more"),
      say.addUserMessage("hurry"),
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
  it("has its id, model, title and end", () => {
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
