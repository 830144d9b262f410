import { DurableObject } from "cloudflare:workers";
import type {
  ApprovalAddress,
  ApprovalAnswer,
  ApprovalDecision,
  CallAnswer,
  ContextAnswer,
  DecisionAnswer,
  FilesAnswer,
  ImageAnswer,
  KeptFilesAnswer,
  NoRun,
  OutcomeAnswer,
  OutcomeReport,
  ReviewReport,
  RunAnswer,
  RunMethods,
  RunObjectMethods,
  SteerAnswer,
  Steering,
  TranscriptAnswer,
  UndoAnswer,
  UndoRequest,
} from "../../src/capabilities/run.ts";
import type { Deployment } from "../../src/compose/deployment.ts";
import {
  composeClock,
  composeDeciding,
  composeFingerprints,
  composeLog,
  composeUndo,
} from "../../src/compose/run.ts";
import type { RawEnv } from "../../src/env.ts";
import { type Viewer, viewerOf } from "../../src/protocol/identity/viewer.ts";
import type { UndoReport } from "../../src/protocol/invocation/undo.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { findWire, type ClientWire } from "../../src/protocol/run/client-wire.ts";
import { migrateStorage } from "../storage-version.ts";
import { ApprovalDecisions } from "../../src/run/approvals/decisions.ts";
import { Deadlines, type RunDeadlines } from "../deadlines.ts";
import { newClaimAndMemory, openRun, type OpenRun } from "./open-run.ts";
import { fingerprintsOf } from "../../src/run/outgoing-hashes.ts";
import { RunAnswers } from "../../src/run/answers.ts";
import { firstDeadlines } from "./run-deadlines.ts";
import { RunLifecycle } from "./run-lifecycle.ts";
import { RunStore } from "./run-store.ts";
import { RUN_LAYOUT } from "./run-tables.ts";
import { answerEvents, answerRepeat, refuseStart, streamRun } from "./run-streams.ts";

/** Delay until an alarm that failed rings again. */
const ALARM_RETRY_MS = 10_000;

const UNKNOWN: NoRun = { kind: "unknown" };

/** A claimed run in memory. */
interface ClaimedRun extends OpenRun {
  readonly lifecycle: RunLifecycle;
  readonly answers: RunAnswers;
}

/**
 * Owns one run: its storage, its alarm and its readers. RunLifecycle carries the run to its end,
 * and src/loop holds the agent logic.
 * Trust: only the Worker reaches the object. The Worker has checked the caller, the run id and the
 * body. The object checks the owner of the run; all other callers get `unknown`.
 * Contract: shapes of RPC and `fetch` hold for one release; see RunMethods.
 */
export class RunObject extends DurableObject<RawEnv> implements RunObjectMethods {
  protected readonly deployment: Deployment;
  readonly #clock = composeClock();
  #store: RunStore;
  #deadlines: RunDeadlines;
  #run: ClaimedRun | undefined;
  /** Why this code cannot read the storage. The object then writes nothing. */
  #refusal: unknown;

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

  /**
   * The run, as its callers reach it; undefined when nobody has claimed it. Fails: throws when this
   * code cannot read the storage.
   */
  get #answers(): RunMethods | undefined {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#run?.answers;
  }

  async state(viewer: Viewer): Promise<RunAnswer> {
    return (await this.#answers?.state(viewer)) ?? UNKNOWN;
  }

  async cancel(viewer: Viewer): Promise<RunAnswer> {
    return (await this.#answers?.cancel(viewer)) ?? UNKNOWN;
  }

  async steer(viewer: Viewer, steering: Steering): Promise<SteerAnswer> {
    return (await this.#answers?.steer(viewer, steering)) ?? UNKNOWN;
  }

  async resolveOutcome(viewer: Viewer, report: OutcomeReport): Promise<OutcomeAnswer> {
    return (await this.#answers?.resolveOutcome(viewer, report)) ?? UNKNOWN;
  }

  async undo(viewer: Viewer, request: UndoRequest): Promise<UndoAnswer> {
    return (await this.#answers?.undo(viewer, request)) ?? UNKNOWN;
  }

  async undone(report: UndoReport): Promise<void> {
    await this.#answers?.undone(report);
  }

  async review(viewer: Viewer, report: ReviewReport): Promise<OutcomeAnswer> {
    return (await this.#answers?.review(viewer, report)) ?? UNKNOWN;
  }

  async transcript(viewer: Viewer, maxBytes?: number): Promise<TranscriptAnswer> {
    return (await this.#answers?.transcript(viewer, maxBytes)) ?? UNKNOWN;
  }

  async call(viewer: Viewer, requestHash?: string): Promise<CallAnswer> {
    return (await this.#answers?.call(viewer, requestHash)) ?? UNKNOWN;
  }

  async context(viewer: Viewer): Promise<ContextAnswer> {
    return (await this.#answers?.context(viewer)) ?? UNKNOWN;
  }

  async files(viewer: Viewer, hashes: readonly string[]): Promise<FilesAnswer> {
    return (await this.#answers?.files(viewer, hashes)) ?? UNKNOWN;
  }

  async image(viewer: Viewer, invocation: number, number: number): Promise<ImageAnswer> {
    return (await this.#answers?.image(viewer, invocation, number)) ?? UNKNOWN;
  }

  async keptFiles(viewer: Viewer, hashes: readonly string[]): Promise<KeptFilesAnswer> {
    return (await this.#answers?.keptFiles(viewer, hashes)) ?? UNKNOWN;
  }

  async approval(address: ApprovalAddress): Promise<ApprovalAnswer> {
    return (await this.#answers?.approval(address)) ?? UNKNOWN;
  }

  async decide(address: ApprovalAddress, decision: ApprovalDecision): Promise<DecisionAnswer> {
    return (await this.#answers?.decide(address, decision)) ?? UNKNOWN;
  }

  /** Starts a run of one call, and answers once the call has ended or waits; see RunGateway. */
  async invoke(claim: RunClaim): Promise<CallAnswer> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const isNew = this.#run === undefined;
    const { answers, lifecycle } = this.#run ?? this.#claim(claim);
    if (isNew) await lifecycle.untilRest();
    return answers.call(viewerOf(claim.principal), claim.requestHash);
  }

  #start(claim: RunClaim, wire: ClientWire): Response {
    const reader = { viewer: viewerOf(claim.principal), wire };
    if (this.#run) return answerRepeat(this.#run, claim.requestHash ?? null, reader);
    return streamRun(this.#claim(claim), 0, wire);
  }

  #claim(claim: RunClaim): ClaimedRun {
    const createdMs = this.#clock.nowMs();
    const deadlines = firstDeadlines(createdMs);
    try {
      this.#store.claim(claim, { createdMs, deadlines });
      this.#deadlines.begin(deadlines);
      const run = this.#open();
      run.lifecycle.start(newClaimAndMemory(claim));
      return run;
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
    const run = openRun({ storage, store: this.#store, clock, abandon });
    const lifecycle = new RunLifecycle(run, {
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
      fingerprintOf: fingerprintsOf(run.store, () => composeFingerprints(this.env)),
      undo: composeUndo(this.env),
    });
    this.#run = { ...run, lifecycle, answers };
    return this.#run;
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
