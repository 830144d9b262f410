import type { SteeringInbox } from "../../capabilities/run-journal.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { Replay } from "./evidence.ts";

/**
 * What people said to a run, step by step, as its conversation tells.
 * A message is there once no call goes any more but those that were skipped for it.
 */
export class ReplaySteering implements SteeringInbox {
  readonly #replay: Replay;
  /** What was taken before each model call, and at the end. */
  readonly #said: readonly (readonly string[])[];
  #taken = 0;

  constructor(replay: Replay) {
    this.#replay = replay;
    const { transcript, claim } = replay.evidence;
    const said: string[][] = [[]];
    for (const message of transcript.slice(claim.messages.length)) {
      if (message.role === "user") said.at(-1)?.push(message.text);
      if (message.role === "assistant") said.push([]);
    }
    this.#said = said;
  }

  get hasSteering(): boolean {
    const { answered, evidence } = this.#replay;
    const going = evidence.invocations.filter(
      ({ step, toolCallId }) => step === this.#taken && !answered.has(toolCallId),
    );
    return (this.#said[this.#taken]?.length ?? 0) > 0 && going.every(wasSkipped);
  }

  takeAll(): readonly string[] {
    return this.#said[this.#taken++] ?? [];
  }

  close(): void {}
}

function wasSkipped({ end }: ToolInvocationRecord): boolean {
  return end?.observation.result_payload.errors[0]?.code === "skipped";
}
