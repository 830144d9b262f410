import { DurableObject } from "cloudflare:workers";
import type { TranscriptAnswer } from "../../src/capabilities/run-gateway.ts";
import { composeClock, composeEncoder, composeRun } from "../../src/compose/run.ts";
import type { RawEnv } from "../../src/env.ts";
import { answerInterrupted, closeInterrupted } from "../../src/loop/close-interrupted.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { parseEventId } from "../../src/protocol/event-id.ts";
import type { RunClaim } from "../../src/protocol/run-claim.ts";
import type { RunState } from "../../src/protocol/run-state.ts";
import { EventFeed } from "./event-feed.ts";
import { EventLog } from "./event-log.ts";
import { RunStore } from "./run-store.ts";
import { StoredJournal } from "./stored-journal.ts";

/** The events of a claimed run. */
interface Events {
  readonly log: EventLog;
  readonly feed: EventFeed;
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
  readonly #clock = composeClock();
  readonly #encoder = composeEncoder();
  readonly #store: RunStore;
  #events: Events | undefined;
  #activity: Activity | undefined;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    super(ctx, env);
    this.#store = new RunStore(ctx.storage);
    if (!this.#store.isClaimed()) return;
    if (this.#store.hasEnded) this.#open(this.#store.epoch);
    else this.#closeInterrupted();
  }

  /** `POST /start` with a RunClaim; `GET /events` with an optional Last-Event-ID. */
  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/start") return this.#start(await request.json<RunClaim>());
    return this.#resume(request.headers.get("last-event-id"));
  }

  state(): RunState | undefined {
    return this.#events && this.#store.state();
  }

  async cancel(): Promise<RunState | undefined> {
    this.#activity?.abort.abort();
    await this.#activity?.ended;
    return this.state();
  }

  transcript(): TranscriptAnswer {
    if (!this.#events) return { kind: "unknown" };
    if (!this.#store.hasEnded) return { kind: "running" };
    return { kind: "transcript", messages: this.#store.transcript() };
  }

  #start(claim: RunClaim): Response {
    if (this.#events) return new Response(null, { status: 409 });
    this.#store.claim(claim, this.#clock.nowMs());
    const events = this.#open(0);
    const ports = composeRun(this.env, this.#journal(events));
    const abort = new AbortController();
    const ended = runLoop(claim, ports, abort.signal).finally(() => {
      this.#activity = undefined;
    });
    this.#activity = { abort, ended };
    this.ctx.waitUntil(ended);
    return this.#stream(events, 0);
  }

  #resume(lastEventId: string | null): Response {
    const events = this.#events;
    if (!events) return new Response(null, { status: 404 });
    const after = lastEventId === null ? undefined : parseEventId(lastEventId);
    const seq = after ? events.log.resumeAfter(after) : 0;
    if (seq === undefined) return new Response(null, { status: 409 });
    const isOver = this.#store.hasEnded && seq === events.log.headSeq;
    return isOver ? new Response(null, { status: 204 }) : this.#stream(events, seq);
  }

  #stream({ feed }: Events, seq: number): Response {
    return new Response(feed.open(seq), {
      headers: { ...this.#encoder.headers, "x-run-id": this.#store.runId },
    });
  }

  #open(epoch: number): Events {
    const log = new EventLog(this.#store.sql, epoch);
    const feed = new EventFeed({
      log,
      encoder: this.#encoder,
      clock: this.#clock,
      ended: this.#store.hasEnded,
    });
    this.#events = { log, feed };
    return this.#events;
  }

  #journal(events: Events): StoredJournal {
    return new StoredJournal({ ...events, store: this.#store, clock: this.#clock });
  }

  /** The loop of this run died with an earlier life of the object: its readers must not wait. */
  #closeInterrupted(): void {
    const events = this.#open(this.#store.beginEpoch());
    const log = Array.from(events.log.readAll(), ({ event }) => event);
    const interruption = { runId: this.#store.runId, nowMs: this.#clock.nowMs() };
    for (const answer of answerInterrupted(this.#store.transcript(), interruption)) {
      this.#store.remember(answer);
    }
    this.#journal(events).append(closeInterrupted(log, interruption));
  }
}
