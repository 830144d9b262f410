import { describe, expect, test } from "vitest";
import type { SteeringInbox } from "../../src/capabilities/run-journal.ts";
import type { Model, ModelRequest } from "../../src/capabilities/model.ts";
import { CallIds } from "../../src/loop/call-ids.ts";
import { ModelCalls } from "../../src/loop/model-calls.ts";
import { newRunMemory } from "../../src/loop/run-memory.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { ModelBudget } from "../../src/loop/model-budget.ts";
import { reserveModelCall } from "../../src/loop/ask-model.ts";
import { DENY_ALL } from "../../src/protocol/policy/document.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import { RunBudget } from "../../src/runner/budget/of-run.ts";
import { runStep, takeSteering, type Step, type StepResult } from "../../src/loop/run-step.ts";
import type { RunScope } from "../../src/loop/run-scope.ts";
import { Transcript } from "../../src/loop/transcript.ts";
import type { ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import { observeSuccess } from "../../src/protocol/outcome/observation.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { NOT_DISPATCHED, respond } from "../../src/protocol/outcome/response-vector.ts";
import type { ToolExecResult } from "../../src/protocol/invocation/record.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import { InvocationLedger } from "../../src/runner/invocation-ledger.ts";
import { lenientPorts, passing } from "../fakes/runner-ports.ts";
import { FakeClock, MemoryJournal, policyOf } from "../fakes/fakes.ts";

const CLAIM = {
  runId: "run_1",
  principal: { tenantId: "acme", actorId: "user:ann", roles: [], scopes: [] },
  model: "m",
  messages: [{ role: "user", text: "hi" }],
} as unknown as RunClaim;

class MemoryInbox implements SteeringInbox {
  isClosed = false;
  #waiting: string[] = [];

  get hasSteering(): boolean {
    return this.#waiting.length > 0;
  }

  put(...texts: readonly string[]): void {
    if (!this.isClosed) this.#waiting.push(...texts);
  }

  takeAll(): readonly string[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  close(): void {
    this.isClosed = true;
  }
}

const FIRST: Step = { number: 1, hasBegun: false, answer: undefined };

/** Runs a step that nothing holds up. */
async function runWhole(scope: RunScope, step: Step): Promise<StepResult> {
  takeSteering(scope);
  const allowed = await reserveModelCall(scope);
  if (!allowed.ok) throw new Error("the step may not begin");
  const end = await runStep(scope, { ...step, allowance: allowed.value });
  if (end === "waiting") throw new Error("it waits for an operator");
  return end;
}

const answer = (change: Partial<ModelAnswer> = {}): ModelAnswer => ({
  text: "",
  toolCalls: [],
  finish: "stop",
  ...change,
});
const asks = (...ids: readonly string[]): ModelAnswer =>
  answer({
    finish: "tool_calls",
    toolCalls: ids.map((id) => ({
      toolCallId: id as ToolCallId,
      name: "t",
      argumentsText: "{}",
      truncated: false,
    })),
  });

/**
 * A model that does what the test says, one function for each call; `seen` is what it was shown.
 */
function playModel(...steps: readonly (() => ModelAnswer)[]) {
  const seen: (readonly TranscriptMessage[])[] = [];
  const model: Model = {
    async *stream({ messages }: ModelRequest) {
      seen.push([...messages]);
      yield [{ type: "answer", answer: steps[seen.length - 1]?.() ?? answer() }];
    },
  };
  return { model, seen };
}

/** Who speaks, in order; people with what they say. */
const voices = (messages: readonly TranscriptMessage[] = []): readonly string[] =>
  messages.map((message) => (message.role === "user" ? message.text : message.role));

describe("a step", () => {
  function setStep(model: Model) {
    const journal = new MemoryJournal();
    const inbox = new MemoryInbox();
    const log: string[] = [];
    const gates = new Map<string, () => void>();
    let parts = 0;
    const scope: RunScope = {
      claim: CLAIM,
      model,
      modelCalls: new ModelCalls(journal, { made: 0, counted: 0 }, 20),
      modelBudget: new ModelBudget({
        ...lenientPorts(),
        journal,
        claim: CLAIM,
        policy: DENY_ALL,
        pin: undefined,
        policies: {} as PolicyStore,
        budget: new RunBudget({}, undefined),
      }),
      clock: new FakeClock(),
      random: { fraction: () => 0 },
      tools: [],
      journal,
      inbox,
      callIds: new CallIds([]),
      signal: new AbortController().signal,
      state: {
        transcript: new Transcript(journal, { messages: CLAIM.messages, claimedMessages: 1 }),
        invocations: new InvocationLedger(journal, []),
        usage: NO_USAGE,
      },
      isPolicyLost: false,
      nextPart: () => parts++,
      runner: {
        isWithdrawn: () => false,
        async exec({ toolCallId }): Promise<ToolExecResult> {
          log.push(`start ${toolCallId}`);
          await new Promise<void>((resolve) => gates.set(toolCallId, resolve));
          log.push(`end ${toolCallId}`);
          const facts = { name: "t", version: "1", toolCallId, traceId: "r" };
          const observation = observeSuccess({ ...facts, startedAtMs: 0, endedAtMs: 1 }, {});
          const response = respond("SUCCESS", NOT_DISPATCHED);
          return { toolCallId, ok: true, observation, response, state: "COMPLETED" };
        },
      },
    };
    const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
    const finish = async (id: string): Promise<void> => {
      gates.get(id)?.();
      await settle();
    };
    return { scope, journal, inbox, log, settle, finish };
  }

  // Mutant: awaiting each call before the next is launched.
  test("launches every call at once and remembers the results in the order asked", async () => {
    const bench = setStep(playModel(() => asks("a", "b", "c")).model);
    const step = runWhole(bench.scope, FIRST);
    await bench.settle();
    expect(bench.log).toEqual(["start a", "start b", "start c"]);
    await bench.finish("c");
    await bench.finish("a");
    expect(bench.journal.messages.map(({ role }) => role)).toEqual(["assistant", "tool"]);
    await bench.finish("b");
    expect((await step).continued).toBe(true);
    expect(bench.log.slice(3)).toEqual(["end c", "end a", "end b"]);
    const answered = bench.journal.messages.flatMap((message) =>
      message.role === "tool" ? [message.toolCallId] : [],
    );
    expect(answered).toEqual(["a", "b", "c"]);
  });

  test("closes the inbox exactly when nothing follows it", async () => {
    const last = setStep(playModel().model);
    expect((await runWhole(last.scope, FIRST)).continued).toBe(false);
    expect(last.inbox.isClosed).toBe(true);
    const step = setStep(playModel(() => asks("a")).model);
    const running = runWhole(step.scope, FIRST);
    await step.settle();
    await step.finish("a");
    await running;
    expect(step.inbox.isClosed).toBe(false);
  });

  test("shows the model no tool that was withdrawn", async () => {
    const shown: unknown[] = [];
    const model: Model = {
      async *stream({ tools }: ModelRequest) {
        shown.push(tools.map(({ name }) => name));
        yield [{ type: "answer", answer: answer() }];
      },
    };
    const { scope } = setStep(model);
    const tools = ["kept", "gone"].map((name) => ({ name })) as never;
    const runner = { ...scope.runner, isWithdrawn: (name: string) => name === "gone" };
    await runWhole({ ...scope, tools, runner }, FIRST);
    expect(shown).toEqual([["kept"]]);
  });

  test("remembers nothing of an answer that failed", async () => {
    const failed = { code: "upstream_malformed", detail: "" } as const;
    const broken = answer({ text: "half", finish: "error", failure: failed });
    const { scope, journal } = setStep(playModel(() => broken).model);
    await runWhole(scope, FIRST);
    expect(journal.messages).toEqual([]);
  });

  test("remembers a bounded amount of arguments, and those of later calls as none", async () => {
    const big = JSON.stringify({ text: "x".repeat(150_000) });
    const asked = asks("a", "b", "c");
    const toolCalls = asked.toolCalls.map((call, index) =>
      index < 2 ? { ...call, argumentsText: big } : call,
    );
    const bench = setStep(playModel(() => ({ ...asked, toolCalls })).model);
    const running = runWhole(bench.scope, FIRST);
    await bench.settle();
    const [message] = bench.journal.messages;
    const kept = message?.role === "assistant" ? message.toolCalls : [];
    expect(kept.map(({ argumentsText }) => argumentsText.length)).toEqual([big.length, 2, 2]);
    for (const id of ["a", "b", "c"]) await bench.finish(id);
    await running;
  });

  test("a message that comes while a tool runs waits for the results", async () => {
    const { model, seen } = playModel(() => asks("a", "b"));
    const bench = setStep(model);
    const first = runWhole(bench.scope, FIRST);
    await bench.settle();
    bench.inbox.put("hurry");
    expect(bench.inbox.hasSteering).toBe(true);
    await bench.finish("b");
    await bench.finish("a");
    expect((await first).continued).toBe(true);
    await runWhole(bench.scope, { ...FIRST, number: 2 });
    expect(voices(seen[1])).toEqual(["hi", "assistant", "tool", "tool", "hurry"]);
    expect(bench.journal.messages).toEqual(bench.scope.state.transcript.messages.slice(1));
  });
});

describe("a run", () => {
  function setRun(model: Model, policy: object = {}) {
    const journal = new MemoryJournal();
    const inbox = new MemoryInbox();
    const clock = new FakeClock();
    const loaded = { policy: policyOf({ allowedTools: [], ...policy }) };
    const ports: RunPorts = {
      ...lenientPorts(),
      model,
      journal,
      inbox,
      clock,
      policies: { load: async () => loaded, learn: () => {}, read: async () => loaded },
      source: { getBoundTool: () => undefined, listToolSpecs: () => [] },
    };
    const abort = new AbortController();
    const memory = newRunMemory(CLAIM.messages);
    const life = { claim: CLAIM, memory, startedAtMs: clock.nowMs(), signal: abort.signal };
    const run = (): Promise<unknown> => passing(runLoop(life, ports), clock);
    return { journal, inbox, clock, abort, run };
  }
  const endOf = ({ events }: MemoryJournal): unknown => events.at(-1);

  // Mutant: ending although mail waits.
  test("whose model stopped while mail waits takes another step", async () => {
    const { model, seen } = playModel(() => {
      bench.inbox.put("one more", "and another");
      return answer({ text: "bye" });
    });
    const bench = setRun(model);
    await bench.run();
    expect(seen.map((messages) => voices(messages))).toEqual([
      ["hi"],
      ["hi", "assistant", "one more", "and another"],
    ]);
    const steps = bench.journal.events.filter(({ type }) => type === "step_finished");
    expect(steps).toMatchObject([{ continued: true }, { continued: false }]);
    expect(endOf(bench.journal)).toMatchObject({ type: "done", reason: "stop" });
  });

  test("takes what came before its first step", async () => {
    const { model, seen } = playModel();
    const bench = setRun(model);
    bench.inbox.put("early");
    await bench.run();
    expect(seen.map((messages) => voices(messages))).toEqual([["hi", "early"]]);
  });

  test("takes nothing once nothing will answer: after its end, and in its last step", async () => {
    const whenAsked: boolean[] = [];
    const { model } = playModel(
      ...[1, 2, 3].map(() => () => {
        whenAsked.push(bench.inbox.isClosed);
        return asks("a");
      }),
    );
    const bench = setRun(model, { budgets: { maxSteps: 2 } });
    await bench.run();
    expect(whenAsked).toEqual([false, true]);
    const steps = bench.journal.events.filter(({ type }) => type === "step_finished");
    expect(steps).toMatchObject([{ continued: true }, { continued: false }]);
    expect(endOf(bench.journal)).toMatchObject({ reason: "step_limit" });
    const second = setRun(playModel().model);
    await second.run();
    expect(second.inbox.isClosed).toBe(true);
  });

  test.each([
    [
      "fails",
      () => answer({ finish: "error", failure: { code: "upstream_malformed", detail: "" } }),
    ],
    ["is cancelled", undefined],
    [
      "breaks",
      () => {
        throw new Error("broken");
      },
    ],
  ])("that %s keeps what it was told in its transcript", async (_name, step) => {
    const { model } = playModel(() => {
      bench.inbox.put("lost?");
      if (step === undefined) bench.abort.abort("cancelled");
      return step ? step() : answer();
    });
    const bench = setRun(model);
    await bench.run();
    expect(bench.journal.messages.at(-1)).toEqual({ role: "user", text: "lost?" });
    expect(bench.inbox.isClosed).toBe(true);
    expect(endOf(bench.journal)).toMatchObject({ type: "done" });
  });
});
