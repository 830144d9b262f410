import type { RunJournal } from "../../src/capabilities/run-journal.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { readProgress, type RunMemory } from "../../src/loop/run-memory.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { NO_FACTS, type RunFacts, type StopReason } from "../../src/protocol/run/facts.ts";
import type { Resolution, ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";

/** What storage holds of a run. */
export class Storage {
  readonly events: AiEvent[] = [];
  readonly messages: TranscriptMessage[] = [];
  readonly records = new Map<number, ToolInvocationRecord>();
  facts: RunFacts = NO_FACTS;

  /** What the next incarnation finds. */
  remember({ messages }: RunClaim): RunMemory {
    return {
      transcript: [...messages, ...this.messages],
      invocations: [...this.records.values()],
      facts: this.facts,
      progress: readProgress(this.events),
    };
  }

  /** Lets an operator, or the end of the wait for one, answer every question. */
  answer(tell: (record: ToolInvocationRecord) => Resolution["outcome"]): void {
    for (const record of this.records.values()) {
      if (record.awaitedUntilMs === undefined || record.end || record.resolution) continue;
      this.records.set(record.number, {
        ...record,
        resolution: { outcome: tell(record), atMs: 1 },
      });
    }
  }
}

/**
 * Writes to storage, together what comes together, until after so many writes the object is gone:
 * nothing more is stored then, and nobody who waits for storage goes on.
 */
export class CutJournal implements RunJournal {
  readonly #storage: Storage;
  readonly #onWrite: (count: number) => void;
  readonly #maxWrites: number;
  #waiting: (() => void)[] = [];
  #writes = 0;

  constructor(storage: Storage, maxWrites: number, onWrite: (count: number) => void = () => {}) {
    this.#storage = storage;
    this.#maxWrites = maxWrites;
    this.#onWrite = onWrite;
  }

  get writes(): number {
    return this.#writes;
  }

  get isCut(): boolean {
    return this.#writes >= this.#maxWrites;
  }

  append(events: readonly AiEvent[]): void {
    this.#later(() => this.#storage.events.push(...events));
  }

  keepContext(): void {}
  keepFile(): void {}

  remember(message: TranscriptMessage): void {
    this.#later(() => this.#storage.messages.push(message));
  }

  record(invocation: ToolInvocationRecord): void {
    const { records } = this.#storage;
    this.#later(() => {
      const resolution = records.get(invocation.number)?.resolution;
      records.set(invocation.number, { ...invocation, ...(resolution && { resolution }) });
    });
  }

  note(facts: Partial<RunFacts>): void {
    this.#later(() => (this.#storage.facts = { ...this.#storage.facts, ...facts }));
  }

  audit(): void {}

  get storedFacts(): RunFacts {
    return this.#storage.facts;
  }

  flush(): void {
    if (this.#waiting.length === 0 || this.isCut) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const write of waiting) write();
    this.#writes++;
    this.#onWrite(this.#writes);
  }

  /** Never answers once the object is gone. */
  secure(): Promise<void> {
    this.flush();
    return this.isCut ? new Promise(() => {}) : Promise.resolve();
  }

  #later(write: () => unknown): void {
    if (this.#waiting.length === 0) queueMicrotask(() => this.flush());
    this.#waiting.push(() => void write());
  }
}

/** One incarnation of a run, which may be cut short. */
export interface LifeSpan {
  readonly claim: RunClaim;
  readonly storage: Storage;
  readonly maxWrites?: number;
  /** Stops the run after so many writes; 0: before it begins. */
  readonly stop?: { readonly afterWrites: number; readonly reason: StopReason };
  readonly ports: (journal: CutJournal, clock: FakeClock) => RunPorts;
}

/** Lives it to its end, to a question, or to the crash. */
export async function live(span: LifeSpan): Promise<{
  readonly how: "ended" | "waiting" | "crashed";
  readonly writes: number;
}> {
  const { claim, storage, maxWrites = Number.POSITIVE_INFINITY, stop } = span;
  const clock = new FakeClock();
  const abort = new AbortController();
  if (stop?.afterWrites === 0) abort.abort(stop.reason);
  const journal = new CutJournal(storage, maxWrites, (count) => {
    if (count === stop?.afterWrites) abort.abort(stop.reason);
  });
  const memory = storage.remember(claim);
  const incarnation = { claim, memory, startedAtMs: clock.nowMs(), signal: abort.signal };
  let how: "ended" | "waiting" | undefined;
  void runLoop(incarnation, span.ports(journal, clock)).then((answer) => (how = answer));
  for (let turn = 0, afterwards = 0; turn < 400 && afterwards < 4; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (journal.isCut) afterwards++;
    else if (how !== undefined) {
      journal.flush();
      return { how: journal.isCut ? "crashed" : how, writes: journal.writes };
    }
    if (turn % 4 === 3) clock.advance(1_000);
  }
  if (!journal.isCut) throw new Error("it never came to an end");
  // A run that has ended needs no further incarnation.
  const hasEnded = storage.events.at(-1)?.type === "done";
  return { how: hasEnded ? "ended" : "crashed", writes: journal.writes };
}
