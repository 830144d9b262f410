import type { AiEvent } from "../protocol/ai-event.ts";
import type { ToolInvocationRecord } from "../protocol/tool-invocation.ts";
import type { TranscriptMessage } from "../protocol/transcript-message.ts";

/**
 * Takes what a run says and remembers.
 * Contract: synchronous; keeps the order of calls. Outcomes (a result, a title, the end of a step or of
 * the run) reach readers once they are stored; everything else reaches them at once and storage soon
 * after. After `done` nothing more is taken.
 */
export interface RunJournal {
  append(events: readonly AiEvent[]): void;
  remember(message: TranscriptMessage): void;
  record(invocation: ToolInvocationRecord): void;
}
