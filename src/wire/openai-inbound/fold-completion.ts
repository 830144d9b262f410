import type { Usage } from "../../protocol/model/usage.ts";
import type { StreamedRun } from "../../protocol/run/client-wire.ts";
import type { AiEvent, DoneReason, RunError } from "../../protocol/run/event.ts";
import { formatClientCallId } from "./client-call-id.ts";
import type { EventLine } from "./event-line-reader.ts";
import type { Fold } from "./fold-response.ts";
import { formatNote, type ApprovalLink } from "./notes.ts";

/**
 * Makes a chat completion of the events of a run: its text, and nothing else. What people must
 * approve ends the text with a link. Source: openai 7.55.0, ChatCompletionChunk.
 */
export class CompletionFold implements Fold {
  readonly #linkOf: ApprovalLink;
  readonly #showsUsage: boolean;
  readonly #texts = new Map<number | string, string>();
  #run: StreamedRun | undefined;
  #usage: Usage | undefined;
  /** The text says why the run waits. */
  #hasNote = false;
  #finish: string | undefined;
  /** Calls that go back to the client. */
  readonly #calls: object[] = [];
  /** Why the run failed. */
  error: RunError | undefined;

  /** `showsUsage`: the stream ends with a chunk of the usage. */
  constructor(linkOf: ApprovalLink, showsUsage: boolean) {
    this.#linkOf = linkOf;
    this.#showsUsage = showsUsage;
  }

  get hasEnded(): boolean {
    return this.#finish !== undefined;
  }

  take({ event, run }: EventLine): string {
    this.#run ??= run;
    const { type } = event;
    if (type === "run_started") return this.#chunk({ role: "assistant", content: "" });
    if (type === "text_started") return this.#add(event.part, this.#gap);
    if (type === "text_delta") return this.#add(event.part, event.text);
    if (type === "text_withdrawn") return this.#withdraw(event.parts);
    if (type === "done") return this.#end(event);
    if (type === "client_tool_call") return this.#call(event);
    if (type === "run_waiting") this.#usage = event.usage;
    const note = formatNote(event, this.#linkOf);
    return note === undefined ? "" : this.#say(note);
  }

  rest(): string {
    const note = this.#hasNote ? "" : this.#say("The run waits, and goes on later.");
    return note + this.#close("stop");
  }

  /** The whole of it. Contract: the first event was taken. */
  completion(): object {
    const message = {
      role: "assistant",
      content: [...this.#texts.values()].join(""),
      refusal: null,
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    const choice = { index: 0, message, logprobs: null, finish_reason: this.#finish };
    return { ...this.#head("chat.completion"), choices: [choice], usage: this.#describeUsage() };
  }

  #say(note: string): string {
    this.#hasNote = true;
    return this.#add(`note ${this.#texts.size}`, this.#gap + note);
  }

  get #gap(): string {
    return this.#texts.size > 0 ? "\n\n" : "";
  }

  #add(part: number | string, content: string): string {
    this.#texts.set(part, (this.#texts.get(part) ?? "") + content);
    return content === "" ? "" : this.#chunk({ content });
  }

  #call({ part, toolName: name, args }: Extract<AiEvent, { type: "client_tool_call" }>): string {
    const named = { name, arguments: JSON.stringify(args) };
    const id = this.#run && formatClientCallId(this.#run.runId, part);
    const call = { id, type: "function", function: named };
    const index = this.#calls.push(call) - 1;
    return this.#chunk({ tool_calls: [{ index, ...call }] });
  }

  /** What was sent stays sent, so the stream says that it does not count. */
  #withdraw(parts: readonly number[]): string {
    const withdrawn = parts.filter((part) => this.#texts.delete(part));
    const content = "\n\n[The text above is withdrawn, and the answer begins again.]\n\n";
    return withdrawn.length > 0 ? this.#chunk({ content }) : "";
  }

  #end({ reason, usage, error }: Extract<AiEvent, { type: "done" }>): string {
    this.#usage = usage;
    const hasCalls = reason === "stop" && this.#calls.length > 0;
    if (!error) return this.#close(hasCalls ? "tool_calls" : FINISH_REASONS[reason]);
    this.error = error;
    this.#finish = "stop";
    return frame({ error: { type: "server_error", param: null, ...error } });
  }

  #close(finish: string): string {
    this.#finish = finish;
    const usage = {
      ...this.#head("chat.completion.chunk"),
      choices: [],
      usage: this.#describeUsage(),
    };
    return `${this.#chunk({}, finish)}${this.#showsUsage ? frame(usage) : ""}data: [DONE]\n\n`;
  }

  #chunk(delta: object, finish_reason: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return frame({ ...this.#head("chat.completion.chunk"), choices });
  }

  #head(object: string): object {
    const { runId: id, createdMs = 0, model } = this.#run ?? {};
    return { id, object, created: Math.floor(createdMs / 1000), model };
  }

  #describeUsage(): object | null {
    if (!this.#usage) return null;
    const { inputTokens: prompt_tokens, outputTokens: completion_tokens } = this.#usage;
    return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  }
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

const FINISH_REASONS: { readonly [Reason in DoneReason]: string } = {
  stop: "stop",
  length: "length",
  context_window: "length",
  content_filter: "content_filter",
  refusal: "content_filter",
  step_limit: "length",
  cancelled: "stop",
  error: "stop",
};
