import type { ResultShelf } from "../../src/capabilities/results.ts";
import type { CallAnswer, RunObjectMethods } from "../../src/capabilities/run.ts";
import type { Deployment } from "../../src/compose/deployment.ts";
import {
  composeResults,
  composeClock,
  composeDeciding,
  composeFingerprints,
  composeLog,
  composeMetrics,
  composeRunGateway,
  composeUndo,
} from "../../src/compose/run.ts";
import type { RawEnv } from "../../src/env.ts";
import { type Viewer, viewerOf } from "../../src/protocol/identity/viewer.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { findWire, type ClientWire } from "../../src/protocol/run/client-wire.ts";
import { migrateStorage } from "../storage-version.ts";
import type { Conversation } from "../../src/conversation/conversation.ts";
import { CLAIM_WITHIN_MS } from "../../src/protocol/conversation/turn.ts";
import { openConversation } from "./conversation/open-conversation.ts";
import { ApprovalDecisions } from "../../src/run/approvals/decisions.ts";
import { Deadlines, type RunDeadlines } from "../deadlines.ts";
import { newClaimAndMemory, openRun, type OpenRun } from "./open-run.ts";
import { fingerprintsOf } from "../../src/run/outgoing-hashes.ts";
import { RunAnswers } from "../../src/run/answers.ts";
import { replayDecisions } from "./replay-decisions.ts";
import { firstDeadlines } from "./run-deadlines.ts";
import { RunLifecycle } from "./run-lifecycle.ts";
import { RunRpc } from "./run-rpc.ts";
import { RunStore } from "./run-store.ts";
import { RUN_LAYOUT } from "./run-tables.ts";
import { answerEvents, answerRepeat, refuseStart, streamRun } from "./run-streams.ts";

/** Delay until an alarm that failed rings again. */
const ALARM_RETRY_MS = 10_000;

/** A claimed run in memory. */
interface ClaimedRun extends OpenRun {
  readonly lifecycle: RunLifecycle;
  readonly answers: RunAnswers;
  readonly conversation: Conversation;
}

/**
 * Owns one run: its storage, its alarm and its readers. RunLifecycle carries the run to its end,
 * and src/loop holds the agent logic.
 * Trust: only the Worker reaches the object. The Worker has checked the caller, the run id and the
 * body. The object checks the owner of the run; all other callers get `unknown`.
 * Contract: shapes of RPC and `fetch` hold for one release; see RunMethods.
 */
export class RunObject extends RunRpc implements RunObjectMethods {
  protected readonly deployment: Deployment;
  readonly #clock = composeClock();
  #store: RunStore;
  #deadlines: RunDeadlines;
  #run: ClaimedRun | undefined;
  /** Why this code cannot read the storage. The object then writes nothing. */
  #refusal: unknown;
  protected override readonly claimed = (): ClaimedRun | undefined => {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#run;
  };

  constructor(ctx: DurableObjectState, env: RawEnv, deployment: Deployment) {
    super(ctx, env);
    this.deployment = deployment;
    this.#store = new RunStore(ctx.storage);
    this.#deadlines = new Deadlines(ctx.storage, this.#store.deadlines);
    if (!this.#isReadable()) return;
    // Not in the constructor itself: wake() needs fields that a subclass sets after its
    // constructor.
    void ctx.blockConcurrencyWhile(async () => {
      const { lifecycle } = this.#open();
      try {
        lifecycle.wake();
        // The platform drops an alarm after six failures, so each incarnation arms it again.
        if ((await ctx.storage.getAlarm()) === null) this.#deadlines.arm({ exactly: true });
      } catch (thrown) {
        await this.#retryLater(thrown);
      }
    });
  }

  /**
   * Answers with event streams alone: `POST /start` with a RunClaim; `GET /repeat` with the hash of
   * the request; `GET /events` with an optional Last-Event-ID. The latter two name the Viewer in
   * `x-viewer`, and all of them a client wire in `x-wire`.
   */
  override async fetch(request: Request): Promise<Response> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const { headers } = request;
    const { pathname } = new URL(request.url);
    const wire = findWire(this.deployment.wires.clients, headers.get("x-wire"));
    if (!wire) return refuseStart("unknown_wire");
    if (pathname === "/start") return this.#start(await request.json<RunClaim>(), wire);
    const reader = { viewer: JSON.parse(headers.get("x-viewer") ?? "") as Viewer, wire };
    return pathname === "/repeat"
      ? answerRepeat(this.#run, headers.get("x-request-hash"), reader)
      : answerEvents(this.#run, headers.get("last-event-id"), reader);
  }

  override async alarm(): Promise<void> {
    // Sets the alarm again: the platform drops an alarm that fails, and code that reads the storage
    // would never wake.
    if (this.#refusal !== undefined) return this.#retryLater(this.#refusal);
    try {
      await this.#run?.lifecycle.handleDueDeadlines();
      // A run that was forgotten, or never claimed, has no deadlines.
      if (this.#run) this.#deadlines.arm({ exactly: true });
    } catch (thrown) {
      await this.#retryLater(thrown);
    }
  }

  /** Starts a run of one call, and answers once the call has ended or waits; see RunGateway. */
  async invoke(claim: RunClaim): Promise<CallAnswer> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const isNew = this.#run === undefined;
    const { answers, lifecycle } = this.#run ?? this.#claim(claim, (run) => run);
    if (isNew) await lifecycle.untilRest();
    return answers.call(viewerOf(claim.principal), claim.requestHash);
  }

  #start(claim: RunClaim, wire: ClientWire): Response {
    const reader = { viewer: viewerOf(claim.principal), wire };
    if (this.#run) return answerRepeat(this.#run, this.#hashToCompare(claim), reader);
    const { openedMs = Number.POSITIVE_INFINITY } = claim;
    // Its conversation may have dropped the turn.
    if (this.#clock.nowMs() > openedMs + CLAIM_WITHIN_MS) return refuseStart("lapsed");
    return this.#claim(claim, (run) => streamRun(run, 0, wire));
  }

  /** Of a repetition without a key, its conversation has compared the messages. */
  #hashToCompare({ requestHash, openedMs }: RunClaim): string | null | undefined {
    const stored = openedMs === undefined ? null : this.#store.identity().requestHash;
    return requestHash ?? stored;
  }

  /**
   * Stores a claim and starts its run, in one row of the log. `prepare` runs before the start, so a
   * reader that it opens reads nothing back.
   */
  #claim<T>(claim: RunClaim, prepare: (run: ClaimedRun) => T): T {
    const createdMs = this.#clock.nowMs();
    const deadlines = firstDeadlines(createdMs);
    try {
      return this.#store.log.batch(() => {
        this.#store.claim(claim, { createdMs, deadlines });
        this.#deadlines.begin(deadlines);
        const run = this.#open();
        const prepared = prepare(run);
        run.lifecycle.start(newClaimAndMemory(claim));
        return prepared;
      });
    } catch (cause) {
      // What is written of the claim so far is lost with this incarnation.
      this.#abandon(cause);
      throw cause;
    }
  }

  /**
   * Migrates the tables of a claimed run; false without tables, or when this code cannot read them.
   */
  #isReadable(): boolean {
    try {
      return migrateStorage(this.ctx.storage, RUN_LAYOUT);
    } catch (cause) {
      this.#refusal = cause;
      return false;
    }
  }

  #open(): ClaimedRun {
    if (this.#run) return this.#run;
    const { storage } = this.ctx;
    const clock = this.#clock;
    const abandon = (cause: unknown): void => this.#abandon(cause);
    const metrics = composeMetrics(this.env, this.deployment);
    const run = openRun({ storage, store: this.#store, clock, abandon, metrics });
    const conversation = openConversation(run, {
      storage,
      clock,
      runs: () => composeRunGateway(this.env),
      scheduleErasure: (atMs) => this.#deadlines.set("erasure", atMs),
      abandon,
    });
    const lifecycle = new RunLifecycle(run, {
      conversation,
      env: this.env,
      deployment: this.deployment,
      clock,
      deadlines: this.#deadlines,
      keepAlive: (work) => this.ctx.waitUntil(work),
      abandon,
      forget: () => this.#forget(),
    });
    const decisions = new ApprovalDecisions(run, {
      clock,
      compose: () => composeDeciding(this.env, this.deployment),
      expire: () => lifecycle.expireApprovals(),
      resume: () => lifecycle.resume(),
    });
    const answers = new RunAnswers(run, {
      lifecycle,
      decisions,
      clock,
      results: this.#resultsOf(run),
      fingerprintOf: fingerprintsOf(run.store, () => composeFingerprints(this.env)),
      undo: composeUndo(this.env),
      erase: () => lifecycle.retention.erase(),
      replay: (under) =>
        replayDecisions(run, { env: this.env, deployment: this.deployment }, under),
      undoRun: (runId) => composeRunGateway(this.env).of(runId),
    });
    this.#run = { ...run, lifecycle, answers, conversation };
    return this.#run;
  }

  #resultsOf({ results, store }: OpenRun): ResultShelf {
    const { runId, owner } = store.identity();
    return composeResults(this.env, { results, runId, tenantId: owner.tenantId });
  }

  #abandon(cause: unknown): void {
    composeLog().fault("incarnation_abandoned", cause);
    this.ctx.abort(String(cause));
  }

  async #retryLater(thrown: unknown): Promise<void> {
    composeLog().fault("alarm_failed", thrown);
    await this.ctx.storage.setAlarm(this.#clock.nowMs() + ALARM_RETRY_MS);
  }

  async #forget(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.#store = new RunStore(this.ctx.storage);
    this.#deadlines = new Deadlines(this.ctx.storage, this.#store.deadlines);
    this.#run = undefined;
  }
}
