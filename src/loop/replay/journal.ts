import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import { NO_FACTS } from "../../protocol/run/facts.ts";
import type { ReplayClock } from "./clock.ts";
import type { RunEvidence } from "./evidence.ts";

/** Keeps the events of a replay. After each result it sets the clock to the next call's start. */
export class ReplayJournal implements RunJournal {
  readonly events: AiEvent[];
  readonly answered = new Set<string>();
  readonly storedFacts = NO_FACTS;
  readonly #evidence: RunEvidence;
  readonly #clock: ReplayClock;

  constructor(evidence: RunEvidence, clock: ReplayClock) {
    const { runId, model } = evidence.claim;
    this.events = [{ type: "run_started", runId, model }];
    this.#evidence = evidence;
    this.#clock = clock;
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
  }

  keepContext(): void {}
  keepFile(): void {}
  remember(): void {}
  record(): void {}
  note(): void {}
  audit(): void {}
  flush(): void {}

  secure(): Promise<void> {
    return Promise.resolve();
  }
}
