import { DurableObject } from "cloudflare:workers";
import type {
  ApprovalAnswer,
  ApprovalQuery,
  Decision,
  DecisionAnswer,
  NoRun,
  OutcomeAnswer,
  OutcomeReport,
  RunAnswer,
  SteerAnswer,
  Steering,
  TranscriptAnswer,
} from "../../src/capabilities/run.ts";
import { composeClock, composeDeciding, type RunParts } from "../../src/compose/run.ts";
import { CLIENT_WIRES } from "../../src/compose/client-wires.ts";
import type { RawEnv } from "../../src/env.ts";
import {
  findWire,
  streamHeaders,
  type ClientWire,
  type ClientWires,
} from "../../src/protocol/run/client-wire.ts";
import { parseEventId } from "../../src/protocol/run/event-id.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { MAX_CONVERSATION_BYTES } from "../../src/protocol/conversation/message.ts";
import {
  maySee,
  maySteer,
  mayStop,
  type Viewer,
  viewerOf,
} from "../../src/protocol/identity/viewer.ts";
import { migrateStorage } from "../storage-version.ts";
import { ApprovalDecisions } from "./approval-decisions.ts";
import { Deadlines } from "./deadlines.ts";
import { openRun, type OpenRun } from "./open-run.ts";
import { RUN_MIGRATIONS } from "./run-migrations.ts";
import { RunLifecycle } from "./run-lifecycle.ts";
import { runStateOf } from "./run-state-of.ts";
import { RunStore } from "./run-store.ts";

/** When an alarm that could not do its work is tried again. */
const ALARM_RETRY_MS = 10_000;

/** Who opens a stream, and in which wire. */
interface Reader {
  readonly viewer: Viewer;
  readonly wire: ClientWire;
}

/** A claimed run, and its life. */
interface Claimed extends OpenRun {
  readonly lifecycle: RunLifecycle;
  readonly decisions: ApprovalDecisions;
}

/**
 * Owns one run: its storage and its readers. What happens to it over time is RunLifecycle's; it holds no
 * agent logic.
 * Trust: only the Worker reaches it, after it has checked the caller, the run id and the body. Whose the run
 * is it knows alone: to everybody else it is unknown.
 */
export abstract class RunObject extends DurableObject<RawEnv> {
  /** The tools of the deployment, the same that its Worker has; a getter, for the constructor's sake. */
  protected abstract readonly contracts: RunParts["contracts"];
  /** The client wires of the deployment, the same that its Worker has. */
  protected get wires(): ClientWires {
    return CLIENT_WIRES;
  }
  readonly #clock = composeClock();
  readonly #store: RunStore;
  #deadlines: Deadlines;
  #run: Claimed | undefined;
  /** Why this code does not run on the storage, which stays as it is. */
  #refusal: unknown;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    this.#store = new RunStore(ctx.storage);
    this.#deadlines = new Deadlines(ctx.storage);
    if (!this.#isReadable()) return;
    // A subclass names its tools after this constructor, and waking up needs them.
    void ctx.blockConcurrencyWhile(async () => {
      const { lifecycle } = this.#open();
      try {
        lifecycle.wake();
        // The platform gives up on an alarm after six failures; whoever wakes the object arms it again.
        if ((await ctx.storage.getAlarm()) === null) this.#deadlines.arm({ again: true });
      } catch {
        await this.#retryLater();
      }
    });
  }

  /**
   * `POST /start` with a RunClaim; `GET /repeat` with a hash; `GET /events` with an optional Last-Event-ID.
   * The latter two with the Viewer in `x-viewer`.
   */
  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const wire = findWire(this.wires, request.headers.get("x-wire"));
    if (!wire) return new Response(null, { status: 406 });
    if (pathname === "/start") return this.#start(await request.json<RunClaim>(), wire);
    const viewer = JSON.parse(request.headers.get("x-viewer") ?? "") as Viewer;
    if (pathname === "/repeat") {
      return this.#repeat(request.headers.get("x-request-hash"), { viewer, wire });
    }
    return this.#resume(request.headers.get("last-event-id"), { viewer, wire });
  }

  override async alarm(): Promise<void> {
    // An alarm that fails six times is dropped, and newer code would not wake to do what is due.
    if (this.#refusal !== undefined) return this.#retryLater();
    try {
      await this.#run?.lifecycle.meetDeadlines();
      // Of a run that was forgotten, or never was, nothing is due.
      if (this.#run) this.#deadlines.arm({ again: true });
    } catch {
      await this.#retryLater();
    }
  }

  async state(viewer: Viewer): Promise<RunAnswer> {
    const missing = this.#missing(maySee, viewer);
    return missing ?? { kind: "run", state: await this.#readState() };
  }

  async cancel(viewer: Viewer): Promise<RunAnswer> {
    const missing = this.#missing(mayStop, viewer);
    if (missing || !this.#run) return missing ?? { kind: "unknown" };
    const { journal, lifecycle, notices } = this.#run;
    const isOpen = !journal.hasEnded && this.#store.lives().stop === null;
    if (isOpen) notices.cancelled(viewer, this.#clock.nowMs());
    await lifecycle.stop("cancelled");
    return this.state(viewer);
  }

  /**
   * Takes a message for the run, from whose authority it acts with. It is stored, with its event, before anyone hears of it: the platform
   * holds this answer back until the writes before it are durable.
   */
  async steer(viewer: Viewer, { text, requestKey }: Steering): Promise<SteerAnswer> {
    const missing = this.#missing(maySteer, viewer);
    if (missing || !this.#run) return missing ?? { kind: "unknown" };
    const { inbox, journal } = this.#run;
    const known = requestKey === undefined ? undefined : inbox.findUnder(requestKey);
    if (known !== undefined && known !== text) return { kind: "key_reused" };
    if (known === undefined) {
      if (inbox.isClosed || this.#store.lives().stop !== null) return { kind: "ended" };
      if (inbox.isFull) return { kind: "full" };
      inbox.put(text, requestKey);
      journal.append([{ type: "user_message", text }]);
      if (this.#run.approvals.pending().length > 0) this.#run.lifecycle.goOn();
    }
    return { kind: "taken", state: await this.#readState() };
  }

  /** Takes what an operator found out about a call. */
  async settle(viewer: Viewer, report: OutcomeReport): Promise<OutcomeAnswer> {
    const missing = this.#missing(mayStop, viewer);
    if (missing || !this.#run) return missing ?? { kind: "unknown" };
    const { invocation, outcome, by } = report;
    if (!this.#run.invocations.find(invocation)) return { kind: "unknown_invocation" };
    const settlement = { outcome, by, atMs: this.#clock.nowMs() };
    const kind = this.#run.lifecycle.settle(invocation, settlement);
    return kind === "settled" ? { kind, state: await this.#readState() } : { kind };
  }

  /** Shows a question that the run puts to people. */
  async approval(query: ApprovalQuery): Promise<ApprovalAnswer> {
    return this.#hides(query) ?? this.#run?.decisions.show(query) ?? { kind: "unknown" };
  }

  /** Takes what a person says to it. */
  async decide(query: ApprovalQuery, decision: Decision): Promise<DecisionAnswer> {
    return (
      this.#hides(query) ?? this.#run?.decisions.decide(query, decision) ?? { kind: "unknown" }
    );
  }

  transcript(viewer: Viewer): TranscriptAnswer {
    const missing = this.#missing(maySee, viewer);
    if (missing || !this.#run) return missing ?? { kind: "unknown" };
    const { journal, transcript, store } = this.#run;
    if (!journal.hasEnded) return { kind: "running" };
    if (transcript.bytes() > MAX_CONVERSATION_BYTES) return { kind: "too_long" };
    const { workflowId } = store.claimed() ?? {};
    const first = workflowId ?? store.identity().runId;
    return { kind: "transcript", messages: transcript.all(), workflowId: first };
  }

  /**
   * Says why a caller has no question here. Questions are put to people whose run it is not; who may see them
   * is for each to say. But a page has those of its own runs alone, and that a run is gone is told as ever.
   */
  #hides({ principal }: ApprovalQuery): NoRun | undefined {
    const viewer = viewerOf(principal);
    const isKept = this.#run && this.#store.claimed() !== undefined;
    return isKept && viewer.origin === undefined ? undefined : this.#missing(maySee, viewer);
  }

  /** Says why there is nothing to tell of a run; undefined when there is. */
  #missing(may: typeof maySee, viewer: Viewer): NoRun | undefined {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (!this.#run || !may(this.#store.identity().owner, viewer)) return { kind: "unknown" };
    return this.#store.claimed() ? undefined : { kind: "gone" };
  }

  #readState(): Promise<RunState> {
    const store = this.#store;
    const invocations = this.#run?.invocations.all() ?? [];
    const asked = this.#run?.approvals.pending() ?? [];
    const stored = { identity: store.identity(), progress: store.progress(), lives: store.lives() };
    return runStateOf({ ...stored, invocations, asked });
  }

  #start(claim: RunClaim, wire: ClientWire): Response {
    if (this.#refusal !== undefined) throw this.#refusal;
    const reader = { viewer: viewerOf(claim.principal), wire };
    if (this.#run) return this.#repeat(claim.requestHash ?? null, reader);
    this.#store.claim(claim, this.#clock.nowMs());
    const run = this.#open();
    for (const message of claim.messages) run.transcript.add(message);
    run.lifecycle.start();
    return this.#stream(run, 0, wire);
  }

  /** Every request under one key comes to this object, so the first one wins whatever their number. */
  #repeat(requestHash: string | null, { viewer, wire }: Reader): Response {
    const missing = this.#missing(maySee, viewer);
    if (!this.#run || missing?.kind === "unknown") return new Response(null, { status: 404 });
    if (requestHash === null || this.#store.identity().requestHash !== requestHash) {
      return new Response(null, { status: 422 });
    }
    if (missing) return new Response(null, { status: 410 });
    if (!this.#run.journal.hasEnded) return new Response(null, { status: 409 });
    return this.#stream(this.#run, 0, wire);
  }

  #resume(lastEventId: string | null, { viewer, wire }: Reader): Response {
    const run = this.#run;
    const missing = this.#missing(maySee, viewer);
    if (!run || missing?.kind === "unknown") return new Response(null, { status: 404 });
    if (missing) return new Response(null, { status: 410 });
    const after = lastEventId === null ? undefined : parseEventId(lastEventId);
    const seq = after ? run.log.resumeAfter(after) : 0;
    if (seq === undefined) return new Response(null, { status: 409 });
    if (run.feed.isFull) return new Response(null, { status: 429 });
    const isOver = run.journal.hasEnded && seq === run.log.headSeq;
    return isOver ? new Response(null, { status: 204 }) : this.#stream(run, seq, wire);
  }

  #stream({ feed }: OpenRun, seq: number, wire: ClientWire): Response {
    const headers = streamHeaders(wire, this.#store.identity().runId);
    return new Response(feed.open(seq, wire), { headers });
  }

  /** Migrates the tables of a claimed run; false when there are none, or this code cannot read them. */
  #isReadable(): boolean {
    try {
      return migrateStorage(this.ctx.storage, RUN_MIGRATIONS);
    } catch (cause) {
      this.#refusal = cause;
      return false;
    }
  }

  #open(): Claimed {
    if (this.#run) return this.#run;
    const { storage } = this.ctx;
    const abandon = (cause: unknown): void => this.ctx.abort(String(cause));
    const run = openRun({ storage, store: this.#store, clock: this.#clock, abandon });
    const lifecycle = new RunLifecycle(run, {
      env: this.env,
      contracts: this.contracts,
      clock: this.#clock,
      deadlines: this.#deadlines,
      keepAlive: (work) => this.ctx.waitUntil(work),
      abandon,
      forget: () => this.#forget(),
    });
    const decisions = new ApprovalDecisions(run, {
      clock: this.#clock,
      compose: () => composeDeciding(this.env, this.contracts),
      expire: () => lifecycle.expireApprovals(),
      goOn: () => lifecycle.goOn(),
    });
    this.#run = { ...run, lifecycle, decisions };
    return this.#run;
  }

  async #retryLater(): Promise<void> {
    await this.ctx.storage.setAlarm(this.#clock.nowMs() + ALARM_RETRY_MS);
  }

  async #forget(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.#deadlines = new Deadlines(this.ctx.storage);
    this.#run = undefined;
  }
}
