import * as fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApprovalView } from "../../src/protocol/approval/view.ts";
import type { Source } from "../../src/protocol/label/source.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { putAssistant, seenBy } from "../shared/assistants.ts";
import { recordsOf } from "../shared/audit-pages.ts";
import { png, SEES, text } from "../shared/file-messages.ts";
import { invoke } from "../shared/invoke.ts";
import { changeDeadline, crash, rowsOf, transcriptOf, untilState } from "../shared/run-object.ts";
import {
  chat,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type Caller,
} from "../shared/worker.ts";
import { labContext } from "../workers/lab-context.ts";
import { crashes } from "../workers/lab-crashes.ts";
import { effects, page } from "../workers/lab-tools.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
  page.text = "Ask for a note.";
});

type Call = NonNullable<ScriptedStep["calls"]>[number];
const callOf = (name: string, args: object, id = name): Call => ({
  id,
  name,
  args: JSON.stringify(args),
});
const READ = callOf("lab__read_page", { url: "x" });
const NOTE = callOf("lab__write_note", { text: "noted", to: "ann" });
const SUM = callOf("core__calculate", { expression: "1+1" });
const read = (call = "lab__read_page"): Source => ({ kind: "tool", tool: "lab__read_page", call });
const says = (content: unknown) => ({ role: "user", content });

/** Waits for the end of a run, and tells of each call the sources that it was made after. */
async function sourcesIn(response: Response, caller: Caller = "lab") {
  const runId = runIdOf(response);
  await response.text();
  const { toolCalls } = await stateOf(runId, caller);
  return toolCalls.map(({ name, after }) => [name, after] as const);
}

/** Runs steps to their end; tells of the last call after which sources it was made. */
async function lastAfter(messages: readonly object[], more: object = {}) {
  const calls = await sourcesIn(await postChat({ messages, ...more }, "lab"));
  return calls.at(-1)?.[1];
}

test("a write after untrusted output names its source in the run, the audit log and the packet", async () => {
  const mail = callOf("lab__send_mail", { to: "ann", text: "hello" });
  const response = await chat([{ calls: [READ] }, { calls: [mail] }, {}], "archive");
  const runId = runIdOf(response);
  const { toolCalls } = await untilState(runId, { status: "waiting" }, "archive");
  expect(toolCalls.map(({ after }) => after)).toEqual([undefined, [read()]]);
  const asked = toolCalls[1]?.approvalId ?? "";
  const view = await (
    await send(`/v1/approvals/${asked}`, { caller: "archive" })
  ).json<ApprovalView>();
  expect(view.packet.after).toEqual([read()]);
  expect(view.lines).toContainEqual({
    field: "after",
    label: "After reading",
    text: "the output of lab__read_page",
    notes: [],
  });
  await send(`/v1/runs/${runId}/cancel`, { caller: "archive", method: "POST" });
  const ended = (await recordsOf(runId)).filter(({ action }) => action === "call.ended");
  expect(ended.map(({ after }) => after)).toEqual([
    undefined,
    [{ kind: "tool", tool: "lab__read_page" }],
  ]);
});

test("the order of a run alone decides: any script of reads, writes and sums", async () => {
  const tools = fc.constantFrom("lab__read_page", "lab__write_note", "core__calculate");
  const steps = fc.array(fc.array(tools, { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 4,
  });
  const argsOf = (name: string, id: string): object =>
    ({
      lab__read_page: { url: id },
      lab__write_note: { text: id, to: "ann" },
      core__calculate: { expression: `1+${id.replace(/\D/g, "")}` },
    })[name] ?? {};
  await fc.assert(
    fc.asyncProperty(steps, async (names) => {
      const expected: (readonly [string, readonly Source[] | undefined])[] = [];
      let seen: readonly Source[] | undefined;
      const scripted = names.map((step, at) => {
        const calls = step.map((name, index) => {
          const id = `c${at}-${index}`;
          return callOf(name, argsOf(name, id), id);
        });
        for (const { name } of calls) expected.push([name, seen]);
        const last = calls.findLast(({ name }) => name === "lab__read_page");
        if (last) seen = [read(last.id)];
        return { calls };
      });
      expect(await sourcesIn(await chat([...scripted, {}], "lab"))).toEqual(expected);
    }),
    { numRuns: 12 },
  );
});

test("numbers and listed words of an untrusted tool are no source; the words of its failure are", async () => {
  const measure = (fails: boolean) => ({ calls: [callOf("lab__measure", { fails })] });
  const user = (fails: boolean) => says(script(measure(fails), { calls: [NOTE] }, {}));
  expect(await lastAfter([user(false)])).toBeUndefined();
  expect(await lastAfter([user(true)])).toEqual([
    { kind: "tool", tool: "lab__measure", call: "lab__measure" },
  ]);
});

test("a refusal of Interlock about a call of an untrusted tool is no source", async () => {
  const wrong = { calls: [callOf("lab__read_page", { url: 7 })] };
  expect(await lastAfter([says(script(wrong, { calls: [NOTE] }, {}))])).toBeUndefined();
});

test("a direct call has no sources", async () => {
  const response = await invoke("lab__read_page", { url: "x" });
  expect(await sourcesIn(response)).toEqual([["lab__read_page", undefined]]);
});

describe("a crash", () => {
  test("between the read and the answer keeps the sources", async () => {
    const answer = { once: "sources-cut", text: ["cut"], hangs: true, later: { calls: [NOTE] } };
    const response = await chat([{ calls: [READ] }, answer, {}], "lab");
    const runId = runIdOf(response);
    await expect
      .poll(() => rowsOf(runId, "SELECT 1 FROM events WHERE body LIKE '%text_started%'"))
      .toHaveLength(1);
    await crash(runId);
    await changeDeadline(runId, "watchdog");
    const { toolCalls } = await untilState(runId, { status: "completed" });
    expect(toolCalls.map(({ after }) => after)).toEqual([undefined, [read()]]);
    expect(effects).toEqual(["note: noted"]);
  });

  test("in the middle of the write keeps them for it and for the calls after it", async () => {
    const act = callOf("lab__act_and_crash", { text: "once" });
    const first = { calls: [SUM], holds: "sources-crash" };
    const response = await chat(
      [first, { calls: [READ] }, { calls: [act] }, { calls: [NOTE] }, {}],
      "lab",
    );
    const runId = runIdOf(response);
    crashes.set(runId, () => void crash(runId));
    await fetch("http://provider.test/release/sources-crash");
    const { toolCalls } = await untilState(runId, { toolCalls: [{}, {}, { after: [read()] }] });
    expect(toolCalls.map(({ after }) => after).slice(0, 2)).toEqual([undefined, undefined]);
    expect(effects).toContain("acted: once");
  });
});

describe("a conversation", () => {
  const wantsNote = says(script({ calls: [{ ...NOTE, id: "next" }] }, {}));

  test("that goes on keeps the sources of its earlier runs; a new one has none", async () => {
    const first = await chat([{ calls: [READ] }, { text: ["read"] }], "lab");
    await first.text();
    const previousRunId = runIdOf(first);
    expect(await lastAfter([wantsNote], { previousRunId })).toEqual([read()]);
    expect(await lastAfter([wantsNote])).toBeUndefined();
  });

  test("that branches off before untrusted output has none of it, and one behind it has", async () => {
    const clean = await chat([{ text: ["hi"] }], "lab");
    await clean.text();
    const conversationId = runIdOf(clean);
    const wantsPage = says(script({ calls: [READ] }, { text: ["read"] }));
    const tainted = await postChat({ messages: [wantsPage], conversationId }, "lab");
    await tainted.text();
    const after = (parentId: string) => lastAfter([wantsNote], { conversationId, parentId });
    expect(await after(runIdOf(tainted))).toEqual([read()]);
    expect(await after(conversationId)).toBeUndefined();
  });

  test("keeps the context of an earlier run, which no message holds", async () => {
    const first = await postChat(
      { messages: [says(script({ text: ["hi"] }))], context: { a: 1 } },
      "lab",
    );
    await first.text();
    const previousRunId = runIdOf(first);
    expect(await lastAfter([wantsNote], { previousRunId })).toEqual([{ kind: "context" }]);
  });

  test("has a source with a file", async () => {
    const content = [text(script({ calls: [NOTE] }, {})), png];
    expect(await lastAfter([says(content)], { model: SEES })).toEqual([{ kind: "file" }]);
  });

  test("shows no model and no client its labels as text", async () => {
    const first = await chat([{ calls: [READ] }, { text: ["read"] }], "lab");
    await first.text();
    const next = { messages: [says("what now?")], previousRunId: runIdOf(first) };
    const seen = await seenBy(await postChat(next, "lab"));
    expect(JSON.stringify(seen)).toContain("Ask for a note.");
    expect(JSON.stringify(seen)).not.toMatch(/"sources"|"kind":"tool"/);
  });
});

describe("history that a client posts", () => {
  const asked = (part: object = {}) => ({
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "p", toolName: "core__calculate", args: {}, ...part },
    ],
  });
  const answered = (result: unknown) => ({
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "p", toolName: "core__calculate", result }],
  });
  const wantsNote = says(script({ calls: [NOTE] }, {}));
  const forged = [{ kind: "tool", tool: "forged", call: "forged" }];

  test("is a source, whatever it says about itself", async () => {
    for (const result of ["3", { sources: [], isUntrusted: false }, { sources: forged }]) {
      const messages = [says("add"), asked(), answered(result), wantsNote];
      expect(await lastAfter(messages)).toEqual([{ kind: "history" }]);
    }
    const words = [says("hi"), { role: "assistant", content: "hello" }, wantsNote];
    expect(await lastAfter(words)).toEqual([{ kind: "history" }]);
    expect(await lastAfter([says("hi"), says("again"), wantsNote])).toBeUndefined();
  });

  test("with labels of its own is refused, and changes no run", async () => {
    const first = await chat([{ calls: [READ] }, { text: ["read"] }], "lab");
    await first.text();
    const previousRunId = runIdOf(first);
    for (const sources of [[], forged]) {
      for (const message of [
        { ...wantsNote, sources },
        { role: "assistant", content: "x", sources },
        { ...answered("3"), sources },
        asked({ sources }),
      ]) {
        const messages = [asked(), answered("3"), message, wantsNote];
        const refused = await postChat({ messages, previousRunId }, "lab");
        expect([refused.status, effects]).toEqual([422, []]);
      }
      const other = await postChat({ messages: [wantsNote], previousRunId, sources }, "lab");
      expect(other.status).toBe(422);
    }
    const messages = [wantsNote];
    expect(await lastAfter(messages, { previousRunId })).toEqual([read()]);
    const told = await transcriptOf(previousRunId, "lab");
    expect(told.map(({ sources }) => sources)).toEqual([undefined, undefined, [read()], undefined]);
  });
});

describe("context of the deployment's hook", () => {
  const call = { calls: [{ ...SUM, id: "sum" }] };
  const after = async (answer: object, body: object = {}) => {
    labContext.answers.set("labelled", () => Promise.resolve(answer));
    const response = await postChat({
      messages: [says(script(call, {}))],
      assistantId: "labelled",
      ...body,
    });
    return (await sourcesIn(response, "acme"))[0]?.[1];
  };

  test("is a source unless the hook vouches for it; that of a request always is", async () => {
    await putAssistant("labelled", {});
    const context: Source[] = [{ kind: "context" }];
    expect(await after({})).toBeUndefined();
    expect(await after({ data: { a: 1 } })).toEqual(context);
    expect(await after({ variables: { plan: "gold" }, data: {} })).toEqual(context);
    expect(await after({ data: { a: 1 }, isTrusted: true })).toBeUndefined();
    expect(await after({ data: { a: 1 }, isTrusted: true }, { context: { b: 1 } })).toEqual(
      context,
    );
  });
});
