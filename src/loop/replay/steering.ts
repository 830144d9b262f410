import type { SteeringInbox } from "../../capabilities/run-journal.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { Replay } from "./replay.ts";

/**
 * Replays the steering messages of a run, read from its conversation.
 * A message arrives once every call of its step has its result, except calls that it skipped.
 */
export class ReplaySteering implements SteeringInbox {
  readonly #replay: Replay;
  /** The messages taken before each model call, and at the end. */
  readonly #messages: readonly (readonly string[])[];
  #taken = 0;

  constructor(replay: Replay) {
    this.#replay = replay;
    const { transcript, claim } = replay.evidence;
    const messages: string[][] = [[]];
    for (const message of transcript.slice(claim.messages.length)) {
      const isNote = "aboutInvocation" in message;
      if (message.role === "user" && !isNote) messages.at(-1)?.push(message.text);
      if (message.role === "assistant") messages.push([]);
    }
    this.#messages = messages;
  }

  get hasSteering(): boolean {
    const { answered, evidence } = this.#replay;
    const open = evidence.invocations.filter(
      ({ step, toolCallId }) => step === this.#taken && !answered.has(toolCallId),
    );
    return (this.#messages[this.#taken]?.length ?? 0) > 0 && open.every(wasSkipped);
  }

  takeAll(): readonly string[] {
    return this.#messages[this.#taken++] ?? [];
  }

  close(): void {}
}

function wasSkipped({ end }: ToolInvocationRecord): boolean {
  return end?.observation.result_payload.errors[0]?.code === "skipped";
}
