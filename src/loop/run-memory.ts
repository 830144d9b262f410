import type { HookContext } from "../protocol/assistant/context.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import { NO_FACTS, type RunFacts } from "../protocol/run/facts.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/model/usage.ts";

/** What earlier incarnations of a run stored for the next one. */
export interface RunMemory {
  /** The whole conversation, with the messages of the request. */
  readonly transcript: readonly TranscriptMessage[];
  readonly invocations: readonly ToolInvocationRecord[];
  readonly facts: RunFacts;
  /** What the deployment's hook gave; absent until it has answered. */
  readonly context?: HookContext | undefined;
  readonly progress: LoggedProgress;
}

/** How far a run came, read from its event log. */
export interface LoggedProgress {
  readonly hasStarted: boolean;
  /** The last step that began; 0 before the first. */
  readonly lastStep: number;
  /** The last step has not finished. */
  readonly isStepOpen: boolean;
  /** Another step follows the last one. */
  readonly isContinued: boolean;
  /** Parts of text and reasoning of the open step that are not withdrawn. */
  readonly texts: readonly number[];
  /** Text parts that are not finished. */
  readonly openTexts: readonly number[];
  /** Reasoning parts that are not finished. */
  readonly openReasoning: readonly number[];
  /** The first part number that no event uses. */
  readonly nextPart: number;
  /** Sum over the finished steps. */
  readonly usage: Usage;
}

/** Builds the memory of a new run. */
export function newRunMemory(transcript: readonly TranscriptMessage[]): RunMemory {
  return { transcript, invocations: [], facts: NO_FACTS, progress: readProgress([]) };
}

/** Reads from an event log how far the run came. Contract: pure; reads each event once. */
export function readProgress(log: Iterable<AiEvent>): LoggedProgress {
  let hasStarted = false;
  let lastStep = 0;
  let isStepOpen = false;
  let isContinued = true;
  let usage = NO_USAGE;
  let nextPart = 0;
  const texts = new Set<number>();
  const openTexts = new Set<number>();
  const openReasoning = new Set<number>();
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
    } else if (event.type === "reasoning_started") {
      texts.add(event.part);
      openReasoning.add(event.part);
      nextPart = event.part + 1;
    } else if (event.type === "text_finished") openTexts.delete(event.part);
    else if (event.type === "reasoning_finished") openReasoning.delete(event.part);
    else if (event.type === "text_withdrawn") for (const part of event.parts) texts.delete(part);
    else if (event.type === "tool_call_proposed" || event.type === "client_tool_call") {
      nextPart = event.part + 1;
    } else if (event.type === "step_finished") {
      isStepOpen = false;
      isContinued = event.continued;
      usage = addUsage(usage, event.usage);
    }
  }
  const open = { openTexts: [...openTexts], openReasoning: [...openReasoning] };
  const parts = { texts: [...texts], ...open, nextPart };
  return { hasStarted, lastStep, isStepOpen, isContinued, usage, ...parts };
}

/** Lists the events that finish what a crash left open. */
export function finishOpenParts({ openTexts, openReasoning }: LoggedProgress): readonly AiEvent[] {
  return [
    ...openReasoning.map((part) => ({ type: "reasoning_finished", part }) as const),
    ...openTexts.map((part) => ({ type: "text_finished", part }) as const),
  ];
}
