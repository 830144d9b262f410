import type { Clock } from "../../src/capabilities/system.ts";
import type { Conversation } from "../../src/conversation/conversation.ts";
import type { RunDeadlines } from "../deadlines.ts";
import type { OpenRun } from "./open-run.ts";

/** Delay of the next attempt to delete what still has to be delivered. */
const RETRY_MS = 60_000;

/** What the retention of a run asks of the conversation that begins with it. */
export type KeptConversation = Pick<Conversation, "keepFirst" | "lastTurnMs">;

interface RetentionPorts {
  readonly clock: Clock;
  readonly deadlines: RunDeadlines;
  readonly conversation: KeptConversation;
  /** How long a conversation is kept after its last turn. Unit: milliseconds. */
  readonly conversationMs: () => number;
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
    const { conversation, conversationMs } = this.#ports;
    const lastTurnMs = conversation.lastTurnMs();
    return lastTurnMs === undefined ? 0 : lastTurnMs + conversationMs();
  }
}
