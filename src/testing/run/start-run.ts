import { ApprovalDecisions, type DecidedRun } from "../../run/approvals/decisions.ts";
import { expireOutcomes, resolveOutcome } from "../../run/outcomes/resolve.ts";
import { readApprovalId } from "../../protocol/approval/id.ts";
import type { ApprovalDecision } from "../../protocol/approval/decision.ts";
import { readProgress } from "../../loop/run-memory.ts";
import { runLoop } from "../../loop/run-loop.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import { viewApproval, type ApprovalView } from "../../protocol/approval/view.ts";
import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { ObservationObject } from "../../protocol/outcome/observation.ts";
import { explainDecision } from "../policy/explain-decision.ts";
import type { SentRequest } from "../tool/fake-service.ts";
import { letTimePass } from "../time/let-time-pass.ts";
import { openTestRun, type OpenTestRun } from "./open-test-run.ts";
import { person, TEST_RUN_ID } from "./person.ts";
import type { RunSettings } from "./run-settings.ts";
import { ScriptedModel } from "./scripted-model.ts";
import type { Answer, ApprovingVote, TestRun, Vote } from "./test-run.ts";
import { toTestCall, type TestCall } from "../tool/test-call.ts";
import { readPolicy } from "../policy/test-policy.ts";

/**
 * Runs a conversation with scripted answers of the model, through the loop and the tool runner of
 * the product. It resolves when the run has ended or waits for people.
 * Contract: no network, no storage and no server. Time passes only as the run needs it.
 * Fails: throws for contracts, policies and assistants that the product refuses, for a script that
 * runs out, for a tool that the test does not have, for a request that nothing answers, and for a
 * workspace that the test does not have or that cannot be opened.
 */
export async function startRun(settings: RunSettings): Promise<TestRun> {
  const run = new MemoryRun(await openTestRun(settings), settings);
  await run.proceed();
  return run;
}

/** A run in memory. */
class MemoryRun implements TestRun {
  readonly #open: OpenTestRun;
  readonly #settings: RunSettings;
  readonly #decisions: ApprovalDecisions;
  readonly #startedAtMs: number;
  #isWaiting = false;
  #isResumed = false;

  constructor(open: OpenTestRun, settings: RunSettings) {
    this.#open = open;
    this.#settings = settings;
    const { approvals, clock, journal, ports } = open;
    this.#startedAtMs = clock.nowMs();
    const store: DecidedRun["store"] = {
      identity: () => ({ runId: TEST_RUN_ID }),
      claimed: () => open.claim,
      progress: () => ({ facts: journal.facts }),
      incarnations: () => NOT_STOPPED,
    };
    const { approvalSigner: signer, ledger, ...deciding } = ports;
    this.#decisions = new ApprovalDecisions(
      {
        approvals,
        invocations: journal.invocations,
        store,
        transcript: { all: () => this.messages },
      },
      {
        clock,
        compose: () => ({ ...deciding, signer, ledgerOf: () => ledger }),
        expire: () => void approvals.expire(clock.nowMs()),
        resume: () => (this.#isResumed = true),
      },
    );
  }

  get state(): "ended" | "waiting" {
    return this.#isWaiting ? "waiting" : "ended";
  }

  get done(): Extract<AiEvent, { type: "done" }> | undefined {
    return this.events.find((event) => event.type === "done");
  }

  get events(): readonly AiEvent[] {
    return this.#open.journal.events;
  }

  get messages(): readonly TranscriptMessage[] {
    return [...this.#open.claim.messages, ...this.#open.journal.messages];
  }

  get text(): string {
    const last = this.messages.findLast(({ role }) => role === "assistant");
    return last?.role === "assistant" ? last.text : "";
  }

  get calls(): readonly TestCall[] {
    return this.#open.journal.records.map((record) => toTestCall(record));
  }

  get observations(): readonly ObservationObject[] {
    return this.calls.flatMap((call) => (call.isOpen ? [] : [call.observation]));
  }

  get approvals(): readonly ApprovalView[] {
    return this.#open.approvals.pending().map((record) => viewApproval(TEST_RUN_ID, record));
  }

  get audit(): readonly AuditEntry[] {
    return this.#open.journal.audits;
  }

  get faults(): readonly { readonly code: string; readonly thrown: unknown }[] {
    return this.#open.log.faults;
  }

  get requests(): readonly SentRequest[] {
    return this.#open.network.requests;
  }

  get nowMs(): number {
    return this.#open.clock.nowMs();
  }

  approve(vote: ApprovingVote): Promise<void> {
    return this.#decide("approve", vote);
  }

  answer(answer: Answer): Promise<void> {
    return this.#decide("answer", answer);
  }

  reject(vote: Vote): Promise<void> {
    return this.#decide("reject", vote);
  }

  async resolveOutcome(outcome: "committed" | "not_committed"): Promise<void> {
    const { journal } = this.#open;
    const [waiting] = journal.invocations.awaitingOperator();
    if (!waiting) throw new Error(`No call has an unknown outcome. ${this.#describe()}`);
    const resolution = { outcome, by: person("operator").actorId, atMs: this.nowMs };
    resolveOutcome(this.#resolved, waiting.number, resolution);
    await this.proceed();
  }

  async pass(ms: number): Promise<void> {
    const { approvals, clock, journal } = this.#open;
    clock.advance(ms);
    const before = journal.invocations.awaitingOperator().length;
    expireOutcomes(this.#resolved, clock.nowMs());
    const hasExpired = journal.invocations.awaitingOperator().length < before;
    if (approvals.expire(clock.nowMs()) || hasExpired) await this.proceed();
  }

  async changePolicy(document: unknown): Promise<void> {
    await this.#open.policies.store(readPolicy(document));
  }

  /** Runs the loop until the run has ended or waits. */
  async proceed(): Promise<void> {
    const { claim, host, journal, network, ports } = this.#open;
    const progress = readProgress(journal.events);
    const context = journal.contexts.at(-1);
    const memory = {
      transcript: this.messages,
      invocations: journal.records,
      facts: journal.storedFacts,
      ...(context && { context }),
      progress,
    };
    const { signal } = new AbortController();
    const startedAtMs = this.#startedAtMs;
    const running = runLoop({ claim, memory, startedAtMs, signal }, ports);
    this.#isWaiting = (await letTimePass(running, this.#open)) === "waiting";
    this.#isResumed = false;
    if (this.#isWaiting) {
      const { usage } = readProgress(journal.events);
      journal.append([{ type: "run_waiting", usage }]);
    }
    this.#checkModel();
    if (network.fault) throw network.fault;
    if (host.fault) throw host.fault;
  }

  get #resolved(): Parameters<typeof expireOutcomes>[0] {
    const { invocations } = this.#open.journal;
    return {
      invocations,
      journal: { hasEnded: !this.#isWaiting },
      notices: { outcomeResolved: () => {} },
      store: { incarnations: () => NOT_STOPPED },
    };
  }

  async #decide(
    decision: ApprovalDecision["decision"],
    vote: ApprovingVote & Partial<Pick<Answer, "answer">>,
  ): Promise<void> {
    const { by, roles, reason, arguments: edited, answer: fields } = vote;
    const record = this.#findApproval(vote);
    const principal = typeof by === "string" ? person(by, roles && { roles }) : by;
    const { invocation, generation } = readApprovalId(record.id) ?? record;
    const sent: ApprovalDecision = {
      decision,
      ...(reason !== undefined && { reason }),
      ...(edited && { arguments: edited }),
      ...(fields && { answer: fields }),
    };
    const answer = await this.#decisions.decide({ invocation, generation, principal }, sent);
    if (this.#isResumed) await this.proceed();
    const problem = explainDecision(answer, { record, decision, who: principal.actorId });
    if (problem !== undefined) throw new Error(problem);
  }

  #findApproval({ tool, approvalId }: Vote): ApprovalRecord {
    const open = this.#open.approvals.pending();
    const [first, ...others] = open.filter(
      ({ toolId, id }) => toolId === (tool ?? toolId) && id === (approvalId ?? id),
    );
    const named = tool === undefined ? "an approval" : `an approval of ${tool}`;
    if (!first) throw new Error(`Nobody is asked for ${named}. ${this.#describe()}`);
    if (others.length === 0) return first;
    const tools = open.map(({ toolId }) => toolId).join(", ");
    throw new Error(
      `Several approvals are open: ${tools}. Name one by its tool, or by its approvalId in ` +
        "run.approvals.",
    );
  }

  /** Fails: throws for a script that ran out, or that calls a tool which the test does not have. */
  #checkModel(): void {
    const { model, tools } = this.#settings;
    if (!(model instanceof ScriptedModel)) return;
    if (model.fault) throw model.fault;
    const names = new Set(tools.map(({ name }) => name));
    const unknown = [...model.called].find((name) => !names.has(name));
    if (unknown === undefined) return;
    throw new Error(
      `The script calls ${unknown}, and the test has no such tool. It has ` +
        `${[...names].join(", ") || "none"}. For a tool that the model invents, write ` +
        `call("${unknown}", args, { isInvented: true }).`,
    );
  }

  #describe(): string {
    const calls = this.calls.map(
      (call) => `${call.tool}: ${call.isOpen ? "waits" : call.taxonomyClass}`,
    );
    const how = this.#isWaiting ? "waits" : `has ended (${this.done?.reason})`;
    return `The run ${how}. Its calls: ${calls.join(", ") || "none"}.`;
  }
}

const NOT_STOPPED = { stop: null };
