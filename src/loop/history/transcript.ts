import type { RunJournal } from "../../capabilities/run-journal.ts";
import {
  MAX_CONVERSATION_BYTES,
  type TranscriptMessage,
  type TranscriptToolCall,
} from "../../protocol/conversation/message.ts";
import {
  joinClasses,
  joinSources,
  labelled,
  type Labels,
  type Sources,
} from "../../protocol/label/source.ts";
import type { DataClassification } from "../../protocol/tool/data-class.ts";
import { feedbackOf } from "../../protocol/outcome/feedback.ts";
import type { InvocationEnd, ToolInvocationRecord } from "../../protocol/invocation/record.ts";

/** The messages of a run; the first `claimedMessages` came with the request. */
export interface StoredTranscript {
  readonly messages: readonly TranscriptMessage[];
  readonly claimedMessages: number;
  /** The window of earlier turns, which stands before them. Absent: there is none. */
  readonly window?: readonly TranscriptMessage[];
  /** The sources of the earlier turns, also of those that the window leaves out. */
  readonly sources?: Sources | undefined;
  /** Likewise the classes of their data. */
  readonly dataClasses?: readonly DataClassification[] | undefined;
}

/**
 * Holds what the model is shown of a conversation, which grows as the run goes on.
 * Ownership: one per incarnation of a run. Contract: synchronous; every added message is also
 * stored.
 */
export class Transcript {
  readonly #journal: Pick<RunJournal, "remember">;
  readonly #messages: TranscriptMessage[];
  #earlierMessages: number;
  #measuredMessages: number;
  #addedChars = 0;
  #sources: Sources;
  #dataClasses: readonly DataClassification[];

  constructor(journal: Pick<RunJournal, "remember">, stored: StoredTranscript) {
    this.#journal = journal;
    const { window = [], messages, sources = [], dataClasses = [] } = stored;
    this.#messages = [...window, ...messages];
    this.#earlierMessages = window.length;
    this.#measuredMessages = window.length + stored.claimedMessages;
    this.#sources = sources;
    this.#dataClasses = dataClasses;
    for (const message of messages) this.#label(message);
  }

  get messages(): readonly TranscriptMessage[] {
    return this.#messages;
  }

  /** The sources of the whole conversation. */
  get sources(): Sources {
    return this.#sources;
  }

  /** The classes of the data in the whole conversation. */
  get dataClasses(): readonly DataClassification[] {
    return this.#dataClasses;
  }

  /** Shows another window of the same earlier turns. */
  showWindow(window: readonly TranscriptMessage[]): void {
    this.#messages.splice(0, this.#earlierMessages, ...window);
    this.#measuredMessages += window.length - this.#earlierMessages;
    this.#earlierMessages = window.length;
  }

  add(message: TranscriptMessage): void {
    this.#messages.push(message);
    this.#label(message);
    this.#journal.remember(message);
  }

  /** Adds the result of a call that has ended. */
  addResult(
    {
      toolCallId,
      name,
      dispatches,
    }: Pick<ToolInvocationRecord, "toolCallId" | "name" | "dispatches">,
    end: Pick<InvocationEnd, "observation" | "content" | "response">,
    { sources, dataClasses }: Labels,
  ): void {
    const { observation: result, content } = end;
    const feedback = feedbackOf({ ...end, dispatches });
    const beside = { ...(content && { content }), ...labelled(sources, dataClasses) };
    this.add({ role: "tool", toolCallId, name, result, ...(feedback && { feedback }), ...beside });
  }

  /** Lists the tool calls of the last assistant message. */
  lastToolCalls(): readonly TranscriptToolCall[] {
    const message = this.#messages[this.#lastAssistantIndex()];
    return message?.role === "assistant" ? message.toolCalls : [];
  }

  /** Lists the results that follow the last assistant message. */
  lastResults(): readonly Extract<TranscriptMessage, { role: "tool" }>[] {
    const following = this.#messages.slice(this.#lastAssistantIndex() + 1);
    return following.filter((message) => message.role === "tool");
  }

  /** Lists the ids of the calls whose results follow the last assistant message. */
  answeredCallIds(): ReadonlySet<string> {
    return new Set(this.lastResults().map(({ toolCallId }) => toolCallId));
  }

  /**
   * Tells whether the run added more than another run may continue.
   * Threat: a model asks for large results in every step, or a person floods a run with messages.
   * Both would fill the memory that this run shares with other runs.
   * Contract: measures each message once, as UTF-16 code units of its JSON text.
   */
  isTooLong(): boolean {
    for (const message of this.#messages.slice(this.#measuredMessages)) {
      this.#addedChars += JSON.stringify(message).length;
    }
    this.#measuredMessages = this.#messages.length;
    return this.#addedChars > MAX_CONVERSATION_BYTES;
  }

  #label(message: TranscriptMessage): void {
    this.#sources = joinSources(this.#sources, message.sources);
    this.#dataClasses = joinClasses(this.#dataClasses, message.dataClasses);
  }

  #lastAssistantIndex(): number {
    return this.#messages.findLastIndex(({ role }) => role === "assistant");
  }
}
