import type { Clock } from "../../src/capabilities/system.ts";
import { composeRunRecords } from "../../src/compose/stores.ts";
import type { Conversation } from "../../src/conversation/conversation.ts";
import { requireEnv, type RawEnv } from "../../src/env.ts";
import type { RunDeadlines } from "../deadlines.ts";
import type { OpenRun } from "./open-run.ts";

/** Delay of the next attempt to delete what still has to be delivered. */
const RETRY_MS = 60_000;
/** Delay of the next attempt to delete what is left of a conversation. */
const ERASE_EVERY_MS = 10_000;

/** What the retention of a run asks of the conversation that begins with it. */
export type KeptConversation = Pick<Conversation, "keepFirst" | "lastTurnMs" | "continueErasure">;

interface RetentionPorts {
  readonly clock: Clock;
  readonly deadlines: RunDeadlines;
  readonly conversation: KeptConversation;
  readonly env: RawEnv;
  readonly deliver: () => Promise<void>;
  /** Ends the verifications that nobody can finish any more. */
  readonly giveUp: () => void;
}

/**
 * Deletes an ended run in two steps: its evidence, and later what says that it was there. A
 * conversation that begins with the run is kept for longer.
 * Ownership: one per claimed run in memory.
 */
export class RunRetention {
  readonly #run: OpenRun;
  readonly #ports: RetentionPorts;

  constructor(run: OpenRun, ports: RetentionPorts) {
    this.#run = run;
    this.#ports = ports;
  }

  /** Deletes the evidence of the run, once its conversation has its page. */
  async shrink(): Promise<void> {
    const { clock, conversation, deadlines, deliver, giveUp } = this.#ports;
    const { invocations, outbox, store } = this.#run;
    if (store.claimed()?.workflowId !== undefined && outbox.first()) {
      deadlines.set("retention", clock.nowMs() + RETRY_MS);
      return deliver();
    }
    giveUp();
    conversation.keepFirst();
    store.shrink(outbox);
    invocations.forget();
    deadlines.clear("verification", "retention");
  }

  /**
   * Deletes everything that was said in the run, also what was published. False: something has to
   * be delivered first.
   */
  async erase(): Promise<boolean> {
    const { deadlines, deliver, giveUp } = this.#ports;
    const { invocations, notices, outbox, store } = this.#run;
    // What is on its way would come after the deletion, and a notice may hold a title.
    if (!outbox.isEmpty()) await deliver();
    if (!outbox.isEmpty() || !(await this.#removeRecord())) return false;
    giveUp();
    notices.erased();
    if (store.claimed()) store.shrink(outbox);
    invocations.forget();
    deadlines.clear("verification", "retention");
    return true;
  }

  /** Goes on to delete the conversation. Its tombstone stays as long as keys are known. */
  async continueErasure(): Promise<void> {
    const { clock, conversation, deadlines, env } = this.#ports;
    deadlines.set("erasure", clock.nowMs() + ERASE_EVERY_MS);
    if (!(await conversation.continueErasure())) return;
    const { runMs, keyMs } = requireEnv(env).lifetimes;
    deadlines.clear("erasure");
    deadlines.set("forget", clock.nowMs() + Math.max(runMs, keyMs));
  }

  #removeRecord(): Promise<boolean> {
    const { runId, owner } = this.#run.store.identity();
    const { tenantId } = owner;
    return composeRunRecords(requireEnv(this.#ports.env)).remove({ tenantId, runId });
  }

  /** Nothing has to be delivered, and no conversation goes on. */
  get isOver(): boolean {
    return !this.#run.outbox.hasNotices() && this.#keptUntilMs() <= this.#ports.clock.nowMs();
  }

  /** Deletes the run later. */
  postpone(): Promise<void> {
    const { clock, deadlines, deliver } = this.#ports;
    deadlines.set("forget", Math.max(this.#keptUntilMs(), clock.nowMs() + RETRY_MS));
    return deliver();
  }

  /** When the conversation expires; 0 when none begins with the run. */
  #keptUntilMs(): number {
    const { conversation, env } = this.#ports;
    const lastTurnMs = conversation.lastTurnMs();
    if (lastTurnMs === undefined) return 0;
    return lastTurnMs + requireEnv(env).lifetimes.conversationMs;
  }
}
