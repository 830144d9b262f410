import { composeVerifying } from "../../src/compose/run.ts";
import { requireEnv } from "../../src/env.ts";
import { MAX_ATTEMPT_MS, verifyWrite } from "../../src/loop/verify-write.ts";
import type { ActorId } from "../../src/protocol/identity/ids.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type {
  UnverifiedReason,
  VerificationRecord,
} from "../../src/protocol/outcome/verification.ts";
import type { OpenRun } from "./open-run.ts";
import type { ActivityPorts } from "./run-activity.ts";

/** Delays after an attempt that got no answer. After the last attempt the outcome is unknown. */
const RETRY_AFTER_MS = [10_000, 60_000];

/**
 * Verifies the completed writes of one run, some time after each (docs/reliability.md). It does not
 * hold back the run, nor its end. While a write is being undone, its verification waits.
 * Ownership: one per claimed run in memory; the only writer of verifications.
 * Contract: a state is read at least once, and one outcome is recorded. Each attempt is counted
 * before it is made.
 */
export class RunVerifications {
  readonly #run: OpenRun;
  readonly #ports: ActivityPorts;
  #isVerifying = false;

  constructor(run: OpenRun, ports: ActivityPorts) {
    this.#run = run;
    this.#ports = ports;
    run.invocations.onVerifiable(() => this.plan());
  }

  /** Sets a deadline for the earliest verification. */
  plan(): void {
    const { deadlines } = this.#ports;
    const times = this.#listDecided().map(dueAtMs);
    if (times.length > 0) deadlines.set("verification", Math.min(...times));
    else deadlines.clear("verification");
  }

  /** Verifies what is due, without holding back the alarm. */
  verifyDue(): void {
    const { clock, deadlines, keepAlive, abandon } = this.#ports;
    if (this.#isVerifying) {
      return deadlines.set("verification", clock.nowMs() + MAX_ATTEMPT_MS);
    }
    this.#isVerifying = true;
    const done = this.#verifyAllDue().catch(abandon);
    keepAlive(done.then(() => (this.#isVerifying = false)));
  }

  /** Records that the outcomes which are still open stay unknown, because their data goes. */
  giveUp(): void {
    for (const { number } of this.#run.invocations.toVerify()) {
      this.#end(number, { outcome: "unknown", reason: "retention" });
    }
  }

  /** Stores that an operator reviewed a mismatch. Contract: the first review stays. */
  review(number: number, by: ActorId): "settled" | "not_awaited" {
    const { invocations, journal, notices, store } = this.#run;
    const { clock } = this.#ports;
    const record = invocations.find(number);
    const { verification } = record ?? {};
    if (verification?.reviewedBy !== undefined) return "settled";
    const isOver = (verification?.reviewUntilMs ?? 0) <= clock.nowMs();
    if (!record || !verification || isOver) return "not_awaited";
    if (!journal.hasEnded || !invocations.isUntoldMismatch(record)) return "not_awaited";
    store.log.batch(() => {
      invocations.verify(number, { ...verification, reviewedBy: by });
      notices.mismatchReviewed(record, by, clock.nowMs());
    });
    return "settled";
  }

  async #verifyAllDue(): Promise<void> {
    const { clock } = this.#ports;
    const next = (): ToolInvocationRecord | undefined =>
      this.#listDecided().find((record) => dueAtMs(record) <= clock.nowMs());
    for (let record = next(); record; record = next()) await this.#verify(record);
    this.plan();
  }

  async #verify(record: ToolInvocationRecord): Promise<void> {
    const { number, end, verification } = record;
    const { clock } = this.#ports;
    const { invocations } = this.#run;
    if (invocations.undoStanding(record) === "undone") return this.#end(number, UNDONE);
    if (!end?.verification?.expected) return this.#end(number, NOTHING_EXPECTED);
    const attempts = (verification?.attempts ?? 0) + 1;
    // The last attempt was not answered: it took its incarnation with it.
    if (attempts > RETRY_AFTER_MS.length + 1) return this.#end(number, NO_ANSWER);
    const delayMs = RETRY_AFTER_MS[attempts - 1] ?? MAX_ATTEMPT_MS;
    invocations.verify(number, { attempts, nextAtMs: clock.nowMs() + delayMs });
    this.plan();
    const answer = await this.#ask(number);
    // While the state was read, the write may have been undone, or the data deleted.
    const now = invocations.find(number);
    const standing = now && invocations.undoStanding(now);
    if (standing === "undone") return this.#end(number, UNDONE);
    if (standing !== "none") return;
    if (answer.kind !== "unknown") {
      const { kind: outcome, ...found } = answer;
      return this.#end(number, { outcome, ...found });
    }
    if (attempts > RETRY_AFTER_MS.length) this.#end(number, NO_ANSWER);
  }

  /** Lists the writes to verify of which it is known whether they are undone. */
  #listDecided(): readonly ToolInvocationRecord[] {
    const { invocations } = this.#run;
    return invocations.toVerify().filter((record) => invocations.undoStanding(record) !== "open");
  }

  async #ask(number: number): ReturnType<typeof verifyWrite> {
    const { invocations, store } = this.#run;
    const { deployment, env } = this.#ports;
    const record = invocations.find(number);
    const claim = store.claimed();
    if (!record || !claim) return { kind: "unknown" };
    const { runId, principal } = claim;
    const ports = composeVerifying(env, { deployment, runId, tenantId: principal.tenantId });
    const { pin } = store.progress().facts;
    return verifyWrite(ports, { claim, pin }, record);
  }

  /** Records an outcome, once. */
  #end(number: number, ended: Ended): void {
    const { invocations, notices, store } = this.#run;
    const { clock, env } = this.#ports;
    const record = invocations.find(number);
    const { attempts = 0, outcome } = record?.verification ?? {};
    if (!record || outcome !== undefined) return;
    const atMs = clock.nowMs();
    const endedMs = store.progress().endedMs ?? atMs;
    const isMismatch = ended.outcome === "mismatch";
    const reviewUntilMs = endedMs + requireEnv(env).lifetimes.runMs;
    const verification = { attempts, ...ended, atMs, ...(isMismatch && { reviewUntilMs }) };
    store.log.batch(() => {
      invocations.verify(number, verification);
      notices.verified(record, verification);
    });
  }
}

type Ended = Pick<VerificationRecord, "found"> & {
  readonly outcome: NonNullable<VerificationRecord["outcome"]>;
  readonly reason?: UnverifiedReason;
};

const UNDONE: Ended = { outcome: "unknown", reason: "compensated" };
const NOTHING_EXPECTED: Ended = { outcome: "unknown", reason: "no_expected_state" };
const NO_ANSWER: Ended = { outcome: "unknown", reason: "no_answer" };

function dueAtMs({ end, verification }: ToolInvocationRecord): number {
  return verification?.nextAtMs ?? end?.verification?.dueAtMs ?? 0;
}
