import type { AiEvent } from "../protocol/ai-event.ts";
import type { ToolInvocationRecord } from "../protocol/tool-invocation.ts";
import type { TranscriptMessage } from "../protocol/transcript-message.ts";

/**
 * Takes what a run says and remembers.
 * Contract: synchronous; keeps the order of calls. Events reach subscribers at once and storage soon
 * after; `append` of anything but a delta also stores every delta before it. After `done` nothing
 * more is taken.
 */
export interface RunJournal {
  append(events: readonly AiEvent[]): void;
  remember(message: TranscriptMessage): void;
  record(invocation: ToolInvocationRecord): void;
}
