import type { Deployment } from "../../src/compose/deployment.ts";
import { composeRun } from "../../src/compose/run.ts";
import type { Clock } from "../../src/capabilities/system.ts";
import type { RawEnv } from "../../src/env.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { viewerOf } from "../../src/protocol/identity/viewer.ts";
import type { RunDeadlines } from "../deadlines.ts";
import type { ClaimAndMemory, OpenRun } from "./open-run.ts";

/** Time that a loop may take to reach its first step, or to end once it is stopped. */
const STUCK_AFTER_MS = 30_000;

export interface ActivityPorts {
  readonly env: RawEnv;
  readonly deployment: Deployment;
  readonly clock: Clock;
  readonly deadlines: RunDeadlines;
  /** Keeps the object alive until the work is done. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  /** Ends this incarnation of the object; the next one continues from storage. */
  readonly abandon: (cause: unknown) => void;
}

/** How a loop ended: the run has ended, or waits. */
export type LoopEnd = Awaited<ReturnType<typeof runLoop>>;

/** The loop of a run, while it is running. */
interface Loop {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  /** When the loop counts as stuck; undefined while no limit holds. Unit: Unix milliseconds. */
  stuckAtMs: number | undefined;
}

/**
 * Runs the loop of one run, and knows whether it is stuck.
 * Ownership: one per claimed run in memory. Contract: at most one loop at a time.
 */
export class RunActivity {
  readonly #run: OpenRun;
  readonly #ports: ActivityPorts;
  #loop: Loop | undefined;
  #maxStoredBytes = Number.POSITIVE_INFINITY;

  constructor(run: OpenRun, ports: ActivityPorts) {
    this.#run = run;
    this.#ports = ports;
    run.journal.listen(() => this.#checkStorage());
  }

  get isRunning(): boolean {
    return this.#loop !== undefined;
  }

  get isStuck(): boolean {
    const { stuckAtMs = Infinity } = this.#loop ?? {};
    return stuckAtMs <= this.#ports.clock.nowMs();
  }

  /** Starts the loop; calls `onEnd` once the loop has ended. */
  launch(from: ClaimAndMemory, onEnd: (how: LoopEnd) => void): void {
    const { store, journal, inbox, mismatches, approvals, files, results, invocations } = this.#run;
    const { env, deployment, clock, deadlines, keepAlive, abandon } = this.#ports;
    const abort = new AbortController();
    const { createdMs } = store.identity();
    const { stop } = store.incarnations();
    if (stop !== null) abort.abort(stop);
    const limitTime = (maxMs: number): void => {
      if (abort.signal.aborted) return;
      loop.stuckAtMs = undefined;
      if (!deadlines.has("wall_clock")) deadlines.set("wall_clock", createdMs + maxMs);
    };
    const { claim } = from;
    const limitStorage = (maxBytes: number): void => {
      this.#maxStoredBytes = maxBytes;
      this.#checkStorage();
    };
    const ports = composeRun(env, {
      claim,
      runId: claim.runId,
      tenantId: claim.principal.tenantId,
      journal,
      deployment,
      own: {
        inbox,
        mismatches,
        approvals,
        limitTime,
        limitStorage,
        endsAtMs: () => deadlines.at("wall_clock") ?? Number.POSITIVE_INFINITY,
      },
      shelf: { own: (hash) => files.read(hash), viewer: viewerOf(claim.principal) },
      results,
      invocations,
    });
    const runToEnd = async (): Promise<void> => {
      const started = { ...from, startedAtMs: createdMs, signal: abort.signal };
      const how = await runLoop(started, ports);
      this.#loop = undefined;
      onEnd(how);
    };
    const ended = runToEnd().catch(abandon);
    const loop: Loop = { abort, ended, stuckAtMs: clock.nowMs() + STUCK_AFTER_MS };
    this.#loop = loop;
    keepAlive(ended);
  }

  /**
   * Tells the loop to stop, for the stored reason unless one is given. A loop that does not stop in
   * time counts as stuck.
   */
  stop(reason = this.#run.store.incarnations().stop): void {
    if (!this.#loop) return;
    this.#loop.stuckAtMs ??= this.#ports.clock.nowMs() + STUCK_AFTER_MS;
    this.#loop.abort.abort(reason);
  }

  /**
   * Stops a run that stores too much.
   * Threat: a person lets a model ask for large results again and again.
   */
  #checkStorage(): void {
    const { journal, store } = this.#run;
    if (!journal.hasEnded && store.storesMoreThan(this.#maxStoredBytes)) this.stop("storage");
  }

  /** Resolves once no loop is running. */
  async untilRest(): Promise<void> {
    while (this.#loop) await this.#loop.ended;
  }
}
