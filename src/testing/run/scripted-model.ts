import type { Model, ModelRequest } from "../../capabilities/model.ts";
import type { ToolCallId } from "../../protocol/identity/ids.ts";
import type { ModelAnswer, ModelEvent, ModelFailure } from "../../protocol/model/event.ts";
import type { ObservationObject } from "../../protocol/outcome/observation.ts";
import type { ToolCall } from "../../protocol/tool/call.ts";

/** A part of a scripted answer. */
export type ScriptPart =
  | { readonly kind: "say"; readonly text: string }
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly args: object | string;
      readonly settings: CallSettings;
    }
  | { readonly kind: "fail"; readonly code: ModelFailure["code"] };

/** How a scripted model makes a call. */
export interface CallSettings {
  /** Id of the call. Default: `call_<answer>_<part>`, both from 1. */
  readonly id?: string;
  /** The model invents the tool. Without it, a tool that the test does not have is an error. */
  readonly isInvented?: boolean;
}

/** What a scripted model has seen when it answers. */
export interface ScriptView extends Pick<ModelRequest, "messages" | "tools"> {
  /** Results of all tool calls so far, in the order asked. */
  readonly observations: readonly ObservationObject[];
}

/** One answer of a scripted model: its parts, or a function that makes them. */
export type ScriptAnswer =
  | ScriptPart
  | readonly ScriptPart[]
  | ((seen: ScriptView) => ScriptPart | readonly ScriptPart[]);

/** The model writes a text. */
export function say(text: string): ScriptPart {
  return { kind: "say", text };
}

/** The model calls a tool. Arguments that are a text are sent as they are, JSON or not. */
export function call(
  tool: string,
  args: object | string = {},
  settings: CallSettings = {},
): ScriptPart {
  return { kind: "call", tool, args, settings };
}

/** The model call fails, as it does when the provider cannot be reached. */
export function failModel(code: ModelFailure["code"] = "upstream_unreachable"): ScriptPart {
  return { kind: "fail", code };
}

/**
 * A model that plays a script: one answer for each model call, in order.
 * Contract: a call beyond the script is an error of the test, see `fault`.
 */
export class ScriptedModel implements Model {
  readonly #script: readonly ScriptAnswer[];
  readonly #requests: ModelRequest[] = [];
  #fault: Error | undefined;

  constructor(script: readonly ScriptAnswer[]) {
    this.#script = script;
  }

  /** What the model was asked, one request for each call: its messages and the tools it saw. */
  get requests(): readonly ModelRequest[] {
    return this.#requests;
  }

  /** Answers that no call has used. */
  get left(): number {
    return Math.max(0, this.#script.length - this.#requests.length);
  }

  /** What is wrong with the script; undefined while nothing is. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** Lists the tools that the script called and did not invent. */
  readonly called = new Set<string>();

  // oxlint-disable-next-line require-await -- the port is asynchronous, the answers are here
  async *stream(request: ModelRequest): AsyncIterable<readonly ModelEvent[]> {
    this.#requests.push({ ...request, messages: [...request.messages] });
    const answer = this.#readAnswer(request);
    if (answer.text !== "") yield [{ type: "text_delta", text: answer.text }];
    yield [{ type: "answer", answer }];
  }

  #readAnswer(request: ModelRequest): ModelAnswer {
    try {
      return this.#toAnswer(this.#partsOf(request));
    } catch (thrown) {
      this.#fault ??= thrown instanceof Error ? thrown : new Error(String(thrown));
      throw thrown;
    }
  }

  #partsOf(request: ModelRequest): readonly ScriptPart[] {
    const number = this.#requests.length;
    const answer = this.#script[number - 1];
    if (answer === undefined) {
      const has = this.#script.length === 1 ? "1 answer" : `${this.#script.length} answers`;
      throw new Error(
        `The script ran out: the model is called for the ${ordinal(number)} time, and the script ` +
          `has ${has}. ${describeLast(request)} Add an answer, for example say("Done.").`,
      );
    }
    const parts = typeof answer === "function" ? answer(viewOf(request)) : answer;
    return Array.isArray(parts) ? (parts as readonly ScriptPart[]) : [parts as ScriptPart];
  }

  #toAnswer(parts: readonly ScriptPart[]): ModelAnswer {
    const text = parts.map((part) => (part.kind === "say" ? part.text : "")).join("");
    const failed = parts.find((part) => part.kind === "fail");
    if (failed) {
      const failure = { code: failed.code, detail: "the script says so" };
      return { text, toolCalls: [], finish: "error", failure };
    }
    const toolCalls = parts.flatMap((part, index) =>
      part.kind === "call" ? [this.#toCall(part, index)] : [],
    );
    const finish = toolCalls.length > 0 ? "tool_calls" : "stop";
    return { text, toolCalls, finish, usage: { inputTokens: 10, outputTokens: 3 } };
  }

  #toCall(
    { tool, args, settings }: Extract<ScriptPart, { kind: "call" }>,
    index: number,
  ): ToolCall {
    const { id = `call_${this.#requests.length}_${index + 1}`, isInvented = false } = settings;
    if (!isInvented) this.called.add(tool);
    const argumentsText = typeof args === "string" ? args : JSON.stringify(args);
    return { toolCallId: id as ToolCallId, name: tool, argumentsText, truncated: false };
  }
}

/** Makes a model that plays a script; see ScriptedModel. */
export function scriptedModel(script: readonly ScriptAnswer[]): ScriptedModel {
  return new ScriptedModel(script);
}

function viewOf({ messages, tools }: ModelRequest): ScriptView {
  const observations = messages.flatMap((message) =>
    message.role === "tool" ? [message.result as unknown as ObservationObject] : [],
  );
  return { messages, tools, observations };
}

function describeLast(request: ModelRequest): string {
  const last = request.messages.at(-1);
  if (last?.role === "tool") {
    const { status } = last.result as unknown as ObservationObject;
    return `It was told the result of ${last.name}: ${status.taxonomy_class}.`;
  }
  return last ? `The last message is of the role ${last.role}.` : "It was told nothing.";
}

function ordinal(number: number): string {
  const endings: Readonly<Record<number, string>> = { 1: "st", 2: "nd", 3: "rd" };
  const isTeen = number % 100 > 10 && number % 100 < 14;
  return `${number}${isTeen ? "th" : (endings[number % 10] ?? "th")}`;
}
