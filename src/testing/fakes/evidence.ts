import { createPolicyAuthorization } from "../../adapters/policy/policy-authorization.ts";
import type { WorkspaceBinder } from "../../capabilities/workspace.ts";
import type { Egress } from "../../capabilities/http.ts";
import type { SteeringInbox } from "../../capabilities/run-journal.ts";
import type { Model } from "../../capabilities/model.ts";
import { registerContracts } from "../../contracts/check/register.ts";
import { bindTools } from "../../contracts/bind/tool-source.ts";
import { type AuthorCode, revealCode, sealCode } from "../../contracts/define/author-code.ts";
import type { AnyToolContract } from "../../contracts/define/definition.ts";
import type { RunPorts } from "../../loop/run-scope.ts";
import { runLoop } from "../../loop/run-loop.ts";
import { newRunMemory, readProgress } from "../../loop/run-memory.ts";
import type { DecidingPorts } from "../../loop/replay/ports.ts";
import { replayRun } from "../../loop/replay/run.ts";
import type { RunEvidence } from "../../loop/replay/evidence.ts";
import type { ToolCallId } from "../../protocol/identity/ids.ts";
import type { ModelAnswer } from "../../protocol/model/event.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { createInputBound } from "../../wire/model/input-bound.ts";
import { openAIWire } from "../../wire/openai/wire.ts";
import { FakeClock } from "../time/fake-clock.ts";
import { MemoryJournal } from "../memory/memory-journal.ts";
import { WAITING } from "../../runner/waiting.ts";
import { fakeRunCapabilities, policyOf, sourceOf } from "./fakes.ts";
import { ACME, ANN, lenientPorts, passing, RUN_ID } from "./runner-ports.ts";
import { TestDesk } from "./test-desk.ts";

/** Answer of one model call. A function is called at the time of the call. */
export type Answer = Partial<Omit<ModelAnswer, "toolCalls">> & {
  readonly calls?: readonly (readonly [name: string, args: unknown, id?: string])[];
  /** Runs before the answer. */
  readonly meanwhile?: () => void;
};

/** An inbox that a test fills with messages. */
export class TestInbox implements SteeringInbox {
  #waiting: string[] = [];

  get hasSteering(): boolean {
    return this.#waiting.length > 0;
  }

  put(text: string): void {
    this.#waiting.push(text);
  }

  takeAll(): readonly string[] {
    return this.#waiting.splice(0);
  }

  close(): void {}
}

/** A run of a test. */
export interface Happening {
  readonly contracts: readonly unknown[];
  readonly answers: readonly Answer[];
  /** A policy document; by default everything is allowed. */
  readonly policy?: object;
  readonly claim?: Partial<RunClaim>;
  readonly ports?: Partial<RunPorts>;
  /** Default: no network. */
  readonly egress?: Egress;
  readonly workspaces?: WorkspaceBinder;
  readonly signal?: AbortSignal;
  /** Decides what the run waits for. */
  readonly decide?: (desk: TestDesk) => Promise<void>;
}

/** Runs a run to its end and returns what it leaves. Time passes as fast as possible. */
export async function happen(run: Happening): Promise<RunEvidence> {
  const contracts = run.contracts as readonly AnyToolContract[];
  const claim = {
    runId: RUN_ID,
    principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
    model: "m",
    messages: [{ role: "user", text: "hi" }],
    ...run.claim,
  } as RunClaim;
  const clock = new FakeClock();
  const createdMs = clock.nowMs();
  const journal = new MemoryJournal();
  const document = run.policy ?? { allowedTools: contracts.map(({ name }) => name) };
  const policy = { policy: policyOf(document), pin: { revision: 1, hash: "sha256:1" } };
  const load = () => Promise.resolve(policy);
  const desk = new TestDesk();
  const ports: RunPorts = {
    ...lenientPorts(),
    approvals: desk,
    authorizationOf: createPolicyAuthorization,
    source: sourceOf(
      bindTools(registerContracts(contracts), {
        ...fakeRunCapabilities(),
        ...(run.egress && { egress: run.egress }),
        workspaces: run.workspaces,
        clock,
      }),
    ),
    policies: { load, learn: () => {}, read: load },
    model: playAnswers(run.answers, clock),
    inbox: new TestInbox(),
    journal,
    clock,
    ...run.ports,
  };
  const signal = run.signal ?? new AbortController().signal;
  let memory = newRunMemory(claim.messages);
  const live = (): ReturnType<typeof runLoop> =>
    passing(runLoop({ claim, memory, startedAtMs: createdMs, signal }, ports), clock);
  while ((await live()) === WAITING && run.decide) {
    await run.decide(desk);
    memory = {
      transcript: [...claim.messages, ...journal.messages],
      invocations: journal.records,
      facts: journal.storedFacts,
      progress: readProgress(journal.events),
    };
  }
  return {
    claim,
    policy,
    transcript: [...claim.messages, ...journal.messages],
    invocations: journal.records,
    approvals: desk.records,
    log: journal.events,
    facts: journal.storedFacts,
    createdMs,
  };
}

/** Replays a run with contracts whose tools must not run. */
export function replay(
  evidence: RunEvidence,
  contracts: readonly unknown[],
  deciding: Partial<DecidingPorts> = {},
): ReturnType<typeof replayRun> {
  const forbidden = (contracts as readonly AnyToolContract[]).map(forbidAll);
  const source = sourceOf(bindTools(registerContracts(forbidden), fakeRunCapabilities()));
  return replayRun(evidence, {
    source,
    authorizationOf: createPolicyAuthorization,
    modelOf: () => undefined,
    inputBound: createInputBound(openAIWire),
    approvalSigner: lenientPorts().approvalSigner,
    fingerprints: lenientPorts().fingerprints,
    ...deciding,
  });
}

/** Number of tool executions in a replay. */
export const forbiddenCalls: string[] = [];

function forbidAll(contract: AnyToolContract): AnyToolContract {
  const code = revealCode(contract);
  const forbidden: AuthorCode = {
    ...code,
    ...(code.checkState && { checkState: forbid }),
    ...(code.reconcile && { reconcile: forbid }),
    // A saga has no execute: its steps are calls of other tools.
    ...(!contract.saga && { execute: forbid }),
  };
  return { ...contract, code: sealCode(forbidden) };
}

function forbid(): never {
  forbiddenCalls.push("called");
  throw new Error("no tool runs in a replay");
}

function playAnswers(answers: readonly Answer[], clock: FakeClock): Model {
  let asked = 0;
  return {
    // oxlint-disable-next-line require-await -- the port is asynchronous, the answers are here
    async *stream() {
      const { calls = [], meanwhile, text = "", ...turn } = answers[asked++] ?? {};
      clock.advance(7);
      meanwhile?.();
      if (text !== "") yield [{ type: "text_delta", text }];
      const toolCalls = calls.map(([name, args, id], index) => ({
        toolCallId: (id ?? `call_${asked}_${index}`) as ToolCallId,
        name,
        argumentsText: typeof args === "string" ? args : JSON.stringify(args),
        truncated: false,
      }));
      const finish = toolCalls.length > 0 ? "tool_calls" : "stop";
      const usage = { inputTokens: 10, outputTokens: 3 };
      yield [{ type: "answer", answer: { text, toolCalls, finish, usage, ...turn } }];
    },
  };
}
