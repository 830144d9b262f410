import type { Clock } from "../../capabilities/system.ts";
import { MAX_ATTEMPT_MS, verifyWrite, type VerifyingPorts } from "./verify-write.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { UnverifiedReason, VerificationRecord } from "../../protocol/outcome/verification.ts";
import type { Run } from "../run.ts";
import type { ClaimedRun } from "../stored-run.ts";

/** Delays after an attempt that got no answer. After the last attempt the outcome is unknown. */
const RETRY_AFTER_MS = [10_000, 60_000];

export interface VerificationPorts {
  readonly clock: Clock;
  /** Sets the time of the next verification. Undefined: none is planned. */
  readonly schedule: (atMs: number | undefined) => void;
  /** Builds what reading the state after a write needs. */
  readonly compose: (claim: ClaimedRun) => VerifyingPorts;
  /** How long an ended run is kept. Unit: milliseconds. */
  readonly keptMs: () => number;
  /** Keeps the object alive until the work is done. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  /** Ends this incarnation of the object; the next one continues from storage. */
  readonly abandon: (cause: unknown) => void;
}

type VerifiedRun = Pick<Run, "invocations" | "notices" | "store">;

/**
 * Verifies the completed writes of one run, some time after each (docs/reliability.md). It does not
 * hold back the run, nor its end. While a write is being undone, its verification waits.
 * Ownership: one per claimed run in memory. It writes all of a verification but its review.
 * Contract: a state is read at least once, and one outcome is recorded. Each attempt is counted
 * before it is made.
 */
export class RunVerifications {
  readonly #run: VerifiedRun;
  readonly #ports: VerificationPorts;
  #isVerifying = false;

  constructor(run: VerifiedRun, ports: VerificationPorts) {
    this.#run = run;
    this.#ports = ports;
    run.invocations.onVerifiable(() => this.plan());
  }

  /** Sets a deadline for the earliest verification. */
  plan(): void {
    const times = this.#listDecided().map(dueAtMs);
    this.#ports.schedule(times.length > 0 ? Math.min(...times) : undefined);
  }

  /** Verifies what is due, without holding back the alarm. */
  verifyDue(): void {
    const { clock, schedule, keepAlive, abandon } = this.#ports;
    if (this.#isVerifying) return schedule(clock.nowMs() + MAX_ATTEMPT_MS);
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
    const record = invocations.find(number);
    const claim = store.claimed();
    if (!record || !claim) return { kind: "unknown" };
    const { pin } = store.progress().facts;
    return verifyWrite(this.#ports.compose(claim), { claim, pin }, record);
  }

  /** Records an outcome, once. */
  #end(number: number, ended: Ended): void {
    const { invocations, notices, store } = this.#run;
    const { clock, keptMs } = this.#ports;
    const record = invocations.find(number);
    const { attempts = 0, outcome } = record?.verification ?? {};
    if (!record || outcome !== undefined) return;
    const atMs = clock.nowMs();
    const endedMs = store.progress().endedMs ?? atMs;
    const isMismatch = ended.outcome === "mismatch";
    const reviewUntilMs = endedMs + keptMs();
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
