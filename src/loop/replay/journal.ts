import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { RunFacts } from "../../protocol/run/facts.ts";
import { readProgress, type RunMemory } from "../run-memory.ts";
import type { ReplayClock } from "./clock.ts";
import type { RunEvidence } from "./evidence.ts";
import type { RecordedStop } from "./stop.ts";

/**
 * Keeps what a replay does, in memory. After each result it sets the clock to the next call's
 * start.
 */
export class ReplayJournal implements RunJournal {
  readonly events: AiEvent[];
  readonly answered = new Set<string>();
  readonly #messages: TranscriptMessage[];
  readonly #records = new Map<number, ToolInvocationRecord>();
  readonly #evidence: RunEvidence;
  readonly #clock: ReplayClock;
  readonly #stop: RecordedStop;
  #facts: RunFacts;

  constructor(evidence: RunEvidence, clock: ReplayClock, stop: RecordedStop) {
    const { runId, model, messages } = evidence.claim;
    this.events = [{ type: "run_started", runId, model }];
    this.#messages = [...messages];
    this.#facts = factsAtStart(evidence);
    this.#evidence = evidence;
    this.#clock = clock;
    this.#stop = stop;
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

  get storedFacts(): RunFacts {
    return this.#facts;
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

  remember(message: TranscriptMessage): void {
    this.#messages.push(message);
  }

  record(invocation: ToolInvocationRecord): void {
    this.#records.set(invocation.number, invocation);
  }

  note(facts: Partial<RunFacts>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  keepContext(): void {}
  keepFile(): void {}
  audit(): void {}
  flush(): void {}

  secure(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Counts the recorded model calls that have no step of their own: retries. They count against the
 * step limit. A call that was counted in advance and never made counts, too; this happens only far
 * from the limit.
 */
function factsAtStart({ facts, log }: RunEvidence): RunFacts {
  const steps = log.filter(({ type }) => type === "step_started").length;
  const modelCalls = Math.max(0, facts.modelCalls - steps);
  return { modelCalls, pin: undefined, answer: undefined };
}
