import type { Model } from "../../src/capabilities/model.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { newRunMemory } from "../../src/loop/run-memory.ts";
import type { ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { NO_TOOLS, policyOf } from "../../src/testing/fakes/fakes.ts";
import { ACME, ANN, passing, RUN_ID, lenientPorts } from "../../src/testing/fakes/runner-ports.ts";

const CLAIM: RunClaim = {
  runId: RUN_ID,
  principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
  model: "m",
  messages: [{ role: "user", text: "hi" }],
};
const usage = { inputTokens: 8, outputTokens: 2 };
export const asking = (step: number): ModelAnswer => ({
  text: "",
  finish: "tool_calls",
  toolCalls: [
    { toolCallId: `call_${step}` as ToolCallId, name: "t", argumentsText: "{}", truncated: false },
  ],
  usage,
});

interface Circumstances extends Partial<RunPorts> {
  readonly stop?: AbortController;
  readonly tenantBudgets?: object;
}

/** Runs a model that goes on for ever under these budgets. */
export async function run(
  budgets: object,
  model: Model,
  { stop = new AbortController(), tenantBudgets = {}, ...replaced }: Circumstances = {},
) {
  const journal = new MemoryJournal();
  const clock = new FakeClock();
  const loaded = {
    policy: policyOf({ allowedTools: [], budgets, tenantBudgets }),
    pin: { revision: 1, hash: "sha256:1" },
  };
  const ports: RunPorts = {
    ...lenientPorts(),
    model,
    journal,
    clock,
    inbox: { hasSteering: false, takeAll: () => [], close: () => {} },
    policies: { load: async () => loaded, learn: () => {}, read: async () => loaded },
    source: NO_TOOLS,
    ...replaced,
    limitTime: (maxMs) => {
      clock.schedule(maxMs, () => stop.abort("time"));
    },
    limitStorage: () => {},
  };
  const startMs = clock.nowMs();
  const memory = newRunMemory(CLAIM.messages);
  const incarnation = { claim: CLAIM, memory, startedAtMs: startMs, signal: stop.signal };
  await passing(runLoop(incarnation, ports), clock);
  const elapsedMs = clock.nowMs() - startMs;
  return { done: journal.events.at(-1), elapsedMs, journal };
}

export function insatiable(): { readonly model: Model; readonly calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    model: {
      async *stream() {
        yield [{ type: "answer", answer: asking(++calls) }];
      },
    },
  };
}
