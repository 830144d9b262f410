import { DurableObject } from "cloudflare:workers";
import type { SteerAnswer, TranscriptAnswer } from "../../src/capabilities/run-gateway.ts";
import {
  composeClock,
  composeEncoder,
  composeRun,
  composeRunRecords,
} from "../../src/compose/run.ts";
import { TOOL_CONTRACTS } from "../../src/compose/tool-contracts.ts";
import type { RawEnv } from "../../src/env.ts";
import { answerInterrupted, closeInterrupted } from "../../src/loop/close-interrupted.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { parseEventId } from "../../src/protocol/event-id.ts";
import type { RunId } from "../../src/protocol/ids.ts";
import type { RunClaim } from "../../src/protocol/run-claim.ts";
import { MAX_CONVERSATION_BYTES } from "../../src/protocol/transcript-message.ts";
import type { RunState } from "../../src/protocol/run-state.ts";
import { EventFeed } from "./event-feed.ts";
import { EventLog } from "./event-log.ts";
import { StoredInbox } from "./stored-inbox.ts";
import { NEW_RUN, RunStore, type RunProgress } from "./run-store.ts";
import { StoredJournal } from "./stored-journal.ts";

/** A claimed run in memory. */
interface Run {
  readonly log: EventLog;
  readonly feed: EventFeed;
  readonly journal: StoredJournal;
  readonly inbox: StoredInbox;
}

/** The loop of a run, while it goes. */
interface Activity {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Owns one run: its storage, its readers and the life of its loop. It holds no agent logic.
 * Trust: only the Worker reaches it, after it has checked the caller, the run id and the body.
 */
export class RunObject extends DurableObject<RawEnv> {
  /** The tools of the deployment; a subclass with others registers them with its Worker too. */
  protected readonly contracts = TOOL_CONTRACTS;
  readonly #clock = composeClock();
  readonly #encoder = composeEncoder();
  readonly #store: RunStore;
  #run: Run | undefined;
  #activity: Activity | undefined;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    this.#store = new RunStore(ctx.storage);
    if (!this.#store.isClaimed()) return;
    const progress = this.#store.progress();
    if (progress.reason !== null) this.#open(progress);
    else this.#closeInterrupted(progress);
  }

  /** `POST /start` with a RunClaim; `GET /repeat` with a hash; `GET /events` with an optional Last-Event-ID. */
  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/start") return this.#start(await request.json<RunClaim>());
    if (pathname === "/repeat") {
      return this.#repeat(request.headers.get("x-request-hash"));
    }
    return this.#resume(request.headers.get("last-event-id"));
  }

  state(): RunState | undefined {
    return this.#run && this.#store.state();
  }

  async cancel(): Promise<RunState | undefined> {
    this.#activity?.abort.abort();
    await this.#activity?.ended;
    return this.state();
  }

  /**
   * Takes a message for the run. It is stored, with its event, before anyone hears of it: the platform
   * holds this answer back until the writes before it are durable.
   */
  steer(text: string): SteerAnswer {
    if (!this.#run) return { kind: "unknown" };
    const { inbox, journal } = this.#run;
    if (inbox.isClosed || this.#activity?.abort.signal.aborted) return { kind: "ended" };
    if (inbox.isFull) return { kind: "full" };
    inbox.put(text);
    journal.append([{ type: "user_message", text }]);
    return { kind: "taken", state: this.#store.state() };
  }

  transcript(): TranscriptAnswer {
    if (!this.#run) return { kind: "unknown" };
    if (!this.#run.journal.hasEnded) return { kind: "running" };
    if (this.#store.transcriptBytes() > MAX_CONVERSATION_BYTES) return { kind: "too_long" };
    return { kind: "transcript", messages: this.#store.transcript() };
  }

  #start(claim: RunClaim): Response {
    if (this.#run) return this.#repeat(claim.requestHash ?? null);
    this.#store.claim(claim, this.#clock.nowMs());
    const run = this.#open(NEW_RUN);
    const abort = new AbortController();
    const { tenantId } = claim.principal;
    const ports = composeRun(this.env, { ...run, tenantId, contracts: this.contracts });
    const ended = runLoop(claim, ports, abort.signal)
      .finally(() => {
        this.#activity = undefined;
      })
      .then(() => this.#publish(run));
    this.#activity = { abort, ended };
    this.ctx.waitUntil(ended);
    return this.#stream(run, 0, claim.runId);
  }

  /** A run that came under a key is published, so that repeated requests need not wake this object. */
  async #publish({ log }: Run): Promise<void> {
    const { requestHash, runId } = this.#store;
    if (requestHash === undefined) return;
    const stream = Array.from(log.entries(), ({ event, position }) =>
      this.#encoder.encode(event, position),
    ).join("");
    await composeRunRecords(this.env).publish(runId, { requestHash, stream });
  }

  /** Every request under one key comes to this object, so the first one wins whatever their number. */
  #repeat(requestHash: string | null): Response {
    if (!this.#run) return new Response(null, { status: 404 });
    if (requestHash === null || this.#store.requestHash !== requestHash) {
      return new Response(null, { status: 422 });
    }
    if (!this.#run.journal.hasEnded) return new Response(null, { status: 409 });
    return this.#stream(this.#run, 0, this.#store.runId);
  }

  #resume(lastEventId: string | null): Response {
    const run = this.#run;
    if (!run) return new Response(null, { status: 404 });
    const after = lastEventId === null ? undefined : parseEventId(lastEventId);
    const seq = after ? run.log.resumeAfter(after) : 0;
    if (seq === undefined) return new Response(null, { status: 409 });
    if (run.feed.isFull) return new Response(null, { status: 429 });
    const isOver = run.journal.hasEnded && seq === run.log.headSeq;
    return isOver ? new Response(null, { status: 204 }) : this.#stream(run, seq, this.#store.runId);
  }

  #stream({ feed }: Run, seq: number, runId: RunId): Response {
    return new Response(feed.open(seq), {
      headers: { ...this.#encoder.headers, "x-run-id": runId },
    });
  }

  #open(progress: RunProgress): Run {
    const clock = this.#clock;
    const log = new EventLog(this.#store.sql, progress.epoch);
    const ended = progress.reason !== null;
    const feed = new EventFeed({ log, encoder: this.#encoder, clock, ended });
    const abandon = (cause: unknown): void => this.ctx.abort(String(cause));
    const journal = new StoredJournal({ log, feed, store: this.#store, progress, clock, abandon });
    const inbox = new StoredInbox(this.#store.sql);
    if (ended) inbox.close();
    this.#run = { log, feed, journal, inbox };
    return this.#run;
  }

  /** The loop of this run died with an earlier life of the object: its readers must not wait. */
  #closeInterrupted(progress: RunProgress): void {
    const { log, journal, inbox } = this.#open({ ...progress, epoch: progress.epoch + 1 });
    const interruption = { runId: this.#store.runId, nowMs: this.#clock.nowMs() };
    const transcript = this.#store.transcript();
    const left = { transcript, log: log.readAll() };
    for (const answer of answerInterrupted(left, interruption)) journal.remember(answer);
    inbox.close();
    for (const text of inbox.readUntaken(this.#store.countSaid(transcript))) {
      journal.remember({ role: "user", text });
    }
    journal.append(closeInterrupted(log.readAll(), interruption));
  }
}
