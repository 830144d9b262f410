import type { AiEvent } from "../protocol/run/event.ts";
import { NO_FACTS, type RunFacts } from "../protocol/run/facts.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/model/usage.ts";

/** What earlier lives of a run left to the next one. */
export interface RunMemory {
  /** The whole conversation, with what it began with. */
  readonly transcript: readonly TranscriptMessage[];
  readonly invocations: readonly ToolInvocationRecord[];
  readonly facts: RunFacts;
  readonly progress: LoggedProgress;
}

/** How far a run came, as its log tells. */
export interface LoggedProgress {
  readonly hasStarted: boolean;
  /** The last step that began; 0 before the first. */
  readonly lastStep: number;
  /** That step has not finished. */
  readonly isStepOpen: boolean;
  /** A step follows the last one. */
  readonly isContinued: boolean;
  /** Text parts of the open step that were not withdrawn. */
  readonly texts: readonly number[];
  /** Those of them that were not finished. */
  readonly openTexts: readonly number[];
  /** The first part number that no event uses. */
  readonly nextPart: number;
  /** Sum over the finished steps. */
  readonly usage: Usage;
}

/** What a run that begins remembers. */
export function beginMemory(transcript: readonly TranscriptMessage[]): RunMemory {
  return { transcript, invocations: [], facts: NO_FACTS, progress: readProgress([]) };
}

/** Reads out of a log how far its run came. Contract: pure; reads each event once. */
export function readProgress(log: Iterable<AiEvent>): LoggedProgress {
  let hasStarted = false;
  let lastStep = 0;
  let isStepOpen = false;
  let isContinued = true;
  let usage = NO_USAGE;
  let nextPart = 0;
  const texts = new Set<number>();
  const openTexts = new Set<number>();
  for (const event of log) {
    if (event.type === "run_started") hasStarted = true;
    else if (event.type === "step_started") {
      lastStep = event.step;
      isStepOpen = true;
      texts.clear();
    } else if (event.type === "text_started") {
      texts.add(event.part);
      openTexts.add(event.part);
      nextPart = event.part + 1;
    } else if (event.type === "text_finished") openTexts.delete(event.part);
    else if (event.type === "text_withdrawn") for (const part of event.parts) texts.delete(part);
    else if (event.type === "tool_call_proposed") nextPart = event.part + 1;
    else if (event.type === "step_finished") {
      isStepOpen = false;
      isContinued = event.continued;
      usage = addUsage(usage, event.usage);
    }
  }
  const parts = { texts: [...texts], openTexts: [...openTexts], nextPart };
  return { hasStarted, lastStep, isStepOpen, isContinued, usage, ...parts };
}
