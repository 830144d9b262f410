import * as v from "valibot";
import { expect } from "vitest";
import type { Model } from "../../src/capabilities/model.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { bindTools } from "../../src/contracts/bind/tool-source.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { ModelFailure, ModelAnswer } from "../../src/protocol/model/event.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import type { StopReason } from "../../src/protocol/run/facts.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import { endInterrupted } from "../../src/loop/end-interrupted.ts";
import { replayRun } from "../../src/loop/replay/run.ts";
import { createPolicyAuthorization } from "../../src/adapters/policy/policy-authorization.ts";
import { fakeRunCapabilities, policyOf, sourceOf } from "../../src/testing/fakes/fakes.ts";
import { ACME, ANN, RUN_ID, lenientPorts } from "../../src/testing/fakes/runner-ports.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { CutJournal, live, Storage } from "./incarnations.ts";

const CLAIM: RunClaim = {
  runId: RUN_ID,
  principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
  model: "m",
  messages: [{ role: "user", text: "hi" }],
};
const USAGE = { inputTokens: 8, outputTokens: 2 };
const MAX_STEPS = 8;

export const TOOLS = ["read", "keyed", "sure", "unsure"] as const;
/** How a tool answers the first time; after that it works. */
export const HOWS = ["works", "acts and hangs", "hangs", "acts and throws", "refuses"] as const;
/** How a step's model call goes the first time; after that it works. */
export const MODEL_BEHAVIOURS = ["speaks", "stalls", "is refused"] as const;

function loadedWith(budgets: object = { maxSteps: MAX_STEPS }) {
  const allowedTools = TOOLS.map((tool) => `test__${tool}`);
  return { policy: policyOf({ allowedTools, budgets }), pin: { revision: 1, hash: "sha256:1" } };
}

interface PlannedCall {
  readonly tool: (typeof TOOLS)[number];
  readonly how: (typeof HOWS)[number];
}
interface PlannedStep {
  readonly model: (typeof MODEL_BEHAVIOURS)[number];
  readonly calls: readonly PlannedCall[];
}
export type Plan = readonly PlannedStep[];

/** Everything outside the run, which no crash undoes. */
class World {
  readonly effects = new Map<string, number>();
  readonly faults: string[] = [];
  /** Model calls that a provider answered, or began to. */
  modelCalls = 0;
  readonly #seen = new Set<string>();

  /** Tells whether this happens for the first time. */
  isFirst(what: string): boolean {
    if (this.#seen.has(what)) return false;
    this.#seen.add(what);
    return true;
  }

  act(key: string, isIdempotent: boolean): void {
    const count = this.effects.get(key) ?? 0;
    this.effects.set(key, isIdempotent ? 1 : count + 1);
  }

  happened(key: string | undefined): boolean {
    return key !== undefined && this.effects.has(key);
  }
}

function contractsOf(world: World) {
  return TOOLS.map((tool) =>
    defineTool({
      name: `test__${tool}`,
      version: "1.0.0",
      description: "Does what it is told.",
      input: v.strictObject({ how: v.picklist(HOWS), at: v.string() }),
      output: v.strictObject({ done: v.boolean() }),
      sideEffectClass: tool === "read" ? "READ_ONLY" : "LOW_RISK_INTERNAL",
      effect: tool === "read" ? "read_only" : "state_change",
      parallel: tool === "read",
      redaction: { args: ["how", "at"], output: ["done"] },
      capabilities: [],
      runtime: { timeoutMs: 1_000, maxRetries: 1 },
      idempotency: { supported: tool === "keyed" },
      ...(tool === "sure" && {
        reconcile: (
          _args: unknown,
          _context: unknown,
          { idempotencyKey }: { idempotencyKey: string },
        ) =>
          world.happened(idempotencyKey)
            ? { kind: "committed" as const, output: { done: true } }
            : { kind: "not_committed" as const },
      }),
      execute(
        { how, at }: { how: PlannedCall["how"]; at: string },
        _context: unknown,
        { idempotencyKey }: { idempotencyKey: string },
      ) {
        const now = world.isFirst(at) ? how : "works";
        if (now === "refuses") {
          return fail({
            taxonomyClass: "DEPENDENCY_UNAVAILABLE" as const,
            errors: [{ field: null, code: "down", message: "down" }],
            notCommitted: true as const,
          });
        }
        if (now !== "hangs" && tool !== "read") world.act(idempotencyKey, tool === "keyed");
        if (now === "works") return ok({ done: true });
        if (now === "acts and throws") throw new Error("broken");
        return new Promise<never>(() => {});
      },
    } as never),
  );
}

/** A provider refuses a history in which a call has no result right after it, or two. */
function findFault(messages: readonly TranscriptMessage[]): string | undefined {
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (message?.role === "tool") return `a result without its call at ${index}`;
    if (message?.role !== "assistant") continue;
    for (const { toolCallId } of message.toolCalls) {
      const result = messages[++index];
      if (result?.role !== "tool" || result.toolCallId !== toolCallId) {
        return `${toolCallId} is not answered at ${index}`;
      }
    }
  }
  return undefined;
}

function failed(code: ModelFailure["code"], status?: number): ModelAnswer {
  const failure = { code, detail: "", ...(status !== undefined && { status }) };
  return { text: "", toolCalls: [], finish: "error", failure };
}

/** Follows the plan; like everything that leaves the object, a request waits for storage. */
function modelOf(plan: Plan, world: World, isGone: () => boolean): Model {
  return {
    async *stream({ messages }, signal) {
      if (isGone()) await new Promise(() => {});
      const fault = findFault(messages);
      if (fault !== undefined) world.faults.push(fault);
      const due = messages.filter(({ role }) => role === "assistant").length;
      const { model: planned, calls } = plan[due] ?? { model: "speaks", calls: [] };
      if (signal.aborted) return yield [{ type: "answer", answer: failed("aborted") }];
      const now = world.isFirst(`step ${due}`) ? planned : "speaks";
      if (now === "is refused")
        return yield [{ type: "answer", answer: failed("upstream_status", 503) }];
      world.modelCalls++;
      yield [{ type: "text_delta", text: `${due}:` }];
      await new Promise((resolve) => setTimeout(resolve, 0));
      yield [{ type: "text_delta", text: "said." }];
      if (now === "stalls") return yield [{ type: "answer", answer: failed("upstream_stalled") }];
      const toolCalls = calls.map(({ tool, how }, index) => ({
        toolCallId: `call_${index}` as never,
        name: `test__${tool}`,
        argumentsText: JSON.stringify({ how, at: `${due}/${index}` }),
        truncated: false,
      }));
      const finish = toolCalls.length > 0 ? "tool_calls" : "stop";
      const answer: ModelAnswer = { text: `${due}:said.`, toolCalls, finish, usage: USAGE };
      yield [{ type: "answer", answer }];
    },
  };
}

export interface Story {
  readonly plan: Plan;
  /** After how many writes each incarnation is cut short; those after them are not. */
  readonly cuts: readonly number[];
  readonly stop?: {
    readonly incarnation: number;
    readonly afterWrites: number;
    readonly reason: StopReason;
  };
  /** From this incarnation on, objects only close the run. */
  readonly closedBy?: number;
  /** Default: 8 steps. */
  readonly budgets?: object;
  /** Nobody answers what an operator is asked. */
  readonly isDeserted?: boolean;
}

export async function tell({ plan, cuts, stop, closedBy, budgets, isDeserted = false }: Story) {
  const world = new World();
  const storage = new Storage();
  const loaded = loadedWith(budgets);
  const contracts = registerContracts(contractsOf(world));
  const writes: number[] = [];
  for (let incarnation = 0; incarnation < 24; incarnation++) {
    if (incarnation === closedBy) {
      close(storage);
      return { world, storage, writes, loaded };
    }
    const cut = cuts[incarnation];
    const isStopped = stop !== undefined && incarnation >= stop.incarnation;
    const { how, writes: count } = await live({
      claim: CLAIM,
      storage,
      ...(cut !== undefined && { maxWrites: cut }),
      ...(isStopped && {
        stop: { ...stop, afterWrites: incarnation === stop.incarnation ? stop.afterWrites : 0 },
      }),
      ports: (journal, clock): RunPorts => ({
        ...lenientPorts(),
        model: modelOf(plan, world, () => journal.isCut),
        journal,
        clock,
        inbox: { hasSteering: false, takeAll: () => [], close: () => {} },
        policies: { load: async () => loaded, learn: () => {}, read: async () => loaded },
        source: sourceOf(bindTools(contracts, { ...fakeRunCapabilities(), clock })),
      }),
    });
    writes.push(count);
    if (how === "ended") return { world, storage, writes, loaded };
    if (how === "waiting") {
      storage.answer(({ binding }) => {
        if (isDeserted) return "expired";
        return world.happened(binding?.idempotencyKey) ? "committed" : "not_committed";
      });
    }
  }
  throw new Error("24 incarnations did not end the run");
}

/** Ends a run that crashes have interrupted too often, as its object does. */
function close(storage: Storage): void {
  const { approvals } = lenientPorts();
  const journal = new CutJournal(storage, Number.POSITIVE_INFINITY);
  const inbox = { hasSteering: false, takeAll: () => [], close: () => {} };
  const memory = storage.remember(CLAIM);
  endInterrupted({ journal, inbox, approvals }, { claim: CLAIM, memory }, new FakeClock());
  journal.flush();
}

/** Decides the run of a story again. Answers `equal`, why it cannot be, or the difference. */
export async function replayOf({
  storage,
  loaded,
}: Awaited<ReturnType<typeof tell>>): Promise<string> {
  const world = new World();
  const { approvalSigner, fingerprints, inputBound } = lenientPorts();
  const replayed = await replayRun(
    {
      claim: CLAIM,
      policy: loaded,
      transcript: [...CLAIM.messages, ...storage.messages],
      invocations: [...storage.records.values()],
      log: storage.events,
      facts: storage.facts,
      createdMs: new FakeClock().nowMs(),
    },
    {
      source: sourceOf(bindTools(registerContracts(contractsOf(world)), fakeRunCapabilities())),
      authorizationOf: createPolicyAuthorization,
      modelOf: () => undefined,
      inputBound,
      approvalSigner,
      fingerprints,
    },
  );
  expect(world.effects.size).toBe(0);
  if (!replayed.ok) return replayed.failure.reason;
  const { difference, until } = replayed.value;
  if (difference) return JSON.stringify(difference);
  return until ? `equal until ${until.because}` : "equal";
}

const ofType = <T extends AiEvent["type"]>(events: readonly AiEvent[], type: T) =>
  events.filter((event): event is Extract<AiEvent, { type: T }> => event.type === type);

/** What has to hold however the run was cut. */
export function expectOrder({ world, storage }: Awaited<ReturnType<typeof tell>>): void {
  const { events, messages } = storage;
  const records = [...storage.records.values()];
  expect(world.faults).toEqual([]);
  expect(world.modelCalls).toBeLessThanOrEqual(MAX_STEPS);

  const dones = ofType(events, "done");
  expect([dones.length, events.at(-1)]).toEqual([1, dones[0]]);
  expect(ofType(events, "run_started").length).toBe(1);

  const started = ofType(events, "text_started").map(({ part }) => part);
  const proposed = ofType(events, "tool_call_proposed");
  expect(ofType(events, "text_finished").map(({ part }) => part)).toEqual(started);
  const parts = [...started, ...proposed.map(({ part }) => part)];
  expect(new Set(parts).size).toBe(parts.length);

  const asked = proposed.map(({ toolCallId }) => toolCallId);
  const results = ofType(events, "tool_call_result");
  expect(results.map(({ toolCallId }) => toolCallId).toSorted()).toEqual(asked.toSorted());
  expect(records.map(({ toolCallId }) => toolCallId)).toEqual(asked);
  for (const { part, toolCallId, observation } of results) {
    const record = records.find((one) => one.toolCallId === toolCallId);
    expect(record).toMatchObject({ part, end: { observation } });
    const shown = messages.find((one) => one.role === "tool" && one.toolCallId === toolCallId);
    expect(shown).toMatchObject({ result: observation });
  }
  expect(findFault(messages)).toBeUndefined();

  for (const { state, binding } of records) {
    if (!binding?.mutates) continue;
    const effects = world.effects.get(binding.idempotencyKey) ?? 0;
    const [least, most] = state === "COMPLETED" ? [1, 1] : state === "EXPIRED" ? [0, 1] : [0, 0];
    expect([state, effects >= least && effects <= most]).toEqual([state, true]);
  }
  const keys = new Set(records.map(({ binding }) => binding?.idempotencyKey));
  for (const key of world.effects.keys()) expect(keys).toContain(key);

  const steps = ofType(events, "step_finished");
  expect(steps.map(({ step }) => step)).toEqual(
    ofType(events, "step_started").map(({ step }) => step),
  );
  const billed = steps.reduce((sum, { usage }) => sum + usage.inputTokens, 0);
  expect(dones[0]?.usage.inputTokens).toBe(billed);
  const unknownSteps = new Set(
    records.filter(({ state }) => state === "EXPIRED").map(({ step }) => step),
  );
  for (const { step, continued } of steps) expect(continued && unknownSteps.has(step)).toBe(false);
  if (unknownSteps.size > 0) expect(dones[0]?.reason).not.toBe("stop");
  const withdrawn = ofType(events, "text_withdrawn").flatMap(({ parts: some }) => some);
  expect(new Set(withdrawn).size).toBe(withdrawn.length);
  if (dones[0]?.reason === "stop") {
    const said = messages.flatMap((one) => (one.role === "assistant" ? [one.text] : []));
    expect(textOf(events)).toBe(said.join(""));
  }
}

/** What a reader has before him: every text that was not withdrawn. */
function textOf(events: readonly AiEvent[]): string {
  const withdrawn = new Set(ofType(events, "text_withdrawn").flatMap(({ parts }) => parts));
  return ofType(events, "text_delta")
    .filter(({ part }) => !withdrawn.has(part))
    .map(({ text }) => text)
    .join("");
}
