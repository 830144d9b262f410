import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import { NO_FACTS, type RunFacts } from "../../protocol/run/facts.ts";
import { readProgress, type RunMemory } from "../run-memory.ts";
import type { ReplayClock } from "./clock.ts";
import { countsAtStart, type RecordedCrash } from "./crash.ts";
import type { RunEvidence } from "./evidence.ts";
import type { RecordedStop } from "./stop.ts";

interface JournalParts {
  readonly evidence: RunEvidence;
  readonly clock: ReplayClock;
  readonly stop: RecordedStop;
  readonly crash: RecordedCrash;
}

/**
 * Keeps what a replay does, in memory. After each result it sets the clock to the next call's
 * start.
 */
export class ReplayJournal {
  readonly events: AiEvent[];
  readonly answered = new Set<string>();
  readonly #messages: TranscriptMessage[];
  readonly #records = new Map<number, ToolInvocationRecord>();
  readonly #evidence: RunEvidence;
  readonly #clock: ReplayClock;
  readonly #stop: RecordedStop;
  readonly #crash: RecordedCrash;
  #facts: RunFacts;
  /** The newest record. A write waits for its durability before the tool acts. */
  #newest: ToolInvocationRecord | undefined;
  #incarnation = 0;

  constructor({ evidence, clock, stop, crash }: JournalParts) {
    const { runId, model, messages } = evidence.claim;
    this.events = [{ type: "run_started", runId, model }];
    this.#messages = [...messages];
    this.#facts = { ...NO_FACTS, ...countsAtStart(evidence) };
    this.#evidence = evidence;
    this.#clock = clock;
    this.#stop = stop;
    this.#crash = crash;
  }

  /** What the next part of the replay goes on from. */
  get memory(): RunMemory {
    return {
      transcript: [...this.#messages],
      invocations: [...this.#records.values()],
      facts: this.#facts,
      context: this.#evidence.context,
      progress: readProgress(this.events),
    };
  }

  /** Opens the journal of one incarnation. It keeps nothing of an incarnation that died. */
  open(): RunJournal {
    this.#incarnation += 1;
    const own = this.#incarnation;
    const alive =
      <A>(write: (what: A) => void) =>
      (what: A): void => {
        if (own === this.#incarnation) write(what);
      };
    const facts = (): RunFacts => this.#facts;
    return {
      append: alive((events) => {
        this.append(events);
        if (events.some((event) => this.#crash.isAfter(event))) this.#die();
      }),
      remember: alive((message) => void this.#messages.push(message)),
      record: alive((invocation) => this.record(invocation)),
      note: alive((noted) => this.note(noted)),
      get storedFacts() {
        return facts();
      },
      secure: () => this.#secure(),
      keepContext: () => {},
      keepFile: () => {},
      audit: () => {},
      flush: () => {},
    };
  }

  append(events: readonly AiEvent[]): void {
    this.events.push(...events);
    for (const event of events) {
      if (event.type !== "tool_call_result") continue;
      this.answered.add(event.toolCallId);
      const { invocations } = this.#evidence;
      const next = invocations.find(({ toolCallId }) => !this.answered.has(toolCallId));
      if (next?.end) this.#clock.set(next.end.startedAtMs);
    }
    this.#stop.follow(events);
  }

  record(invocation: ToolInvocationRecord): void {
    this.#records.set(invocation.number, invocation);
    this.#newest = invocation;
  }

  note(facts: Partial<RunFacts>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** Ends the incarnation in the middle of its loop, which cannot wait here. */
  #die(): never {
    this.#incarnation += 1;
    void this.#crash.now();
    throw new Error("the incarnation has died");
  }

  #secure(): Promise<void> {
    const isCut = this.#newest !== undefined && this.#crash.hasCut(this.#newest);
    return isCut ? this.#crash.now() : Promise.resolve();
  }
}
