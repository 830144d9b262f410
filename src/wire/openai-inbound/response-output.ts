import type { RunId } from "../../protocol/identity/ids.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { describeErrors } from "../../protocol/outcome/describe-errors.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import {
  TEXT_KINDS,
  toApprovalRequest,
  toCall,
  toClientCall,
  type OutputItem,
  type TextKind,
} from "./output-items.ts";

type EventOf<Type extends AiEvent["type"]> = Extract<AiEvent, { readonly type: Type }>;

/** A text that is written. */
interface OpenText {
  readonly kind: TextKind;
  readonly item: OutputItem;
  readonly at: { readonly item_id: string; readonly output_index: number };
  readonly content: { text: string };
}

/** Sends a frame: the type of its event without `response.`, and its members. */
export type SendFrame = (type: string, members: object) => void;

/** The output of a response, item by item, and the frames that tell of it. */
export class ResponseOutput {
  readonly items: OutputItem[] = [];
  readonly #send: SendFrame;
  /** Part numbers of the run, and our own notes. */
  readonly #texts = new Map<number | string, OpenText>();
  readonly #calls = new Map<string, number>();

  constructor(send: SendFrame) {
    this.#send = send;
  }

  openText(kind: TextKind, part: number | string, runId: string): void {
    const { prefix, members, list, index, part: name, empty } = TEXT_KINDS[kind];
    const id = `${prefix}_${runId}_${part}`;
    const item: OutputItem = { id, ...members, status: "in_progress", [list]: [] };
    const at = { item_id: id, output_index: this.#open(item), [index]: 0 };
    const content = { ...empty };
    item[list] = [content];
    this.#texts.set(part, { kind, item, at, content });
    this.#send(`${name}.added`, { ...at, part: content });
  }

  addText(part: number | string, delta: string): void {
    const text = this.#texts.get(part);
    if (!text) return;
    text.content.text += delta;
    const { delta: name, beside } = TEXT_KINDS[text.kind];
    this.#send(`${name}.delta`, { ...text.at, delta, ...beside });
  }

  closeText(part: number | string): void {
    const text = this.#texts.get(part);
    if (!text) return;
    const { at, content, item } = text;
    const { delta, beside, part: name } = TEXT_KINDS[text.kind];
    this.#send(`${delta}.done`, { ...at, text: content.text, ...beside });
    this.#send(`${name}.done`, { ...at, part: content });
    this.#close(at.output_index, item, "completed");
  }

  /** The model is asked again. The items stay at their places, without their texts. */
  withdraw({ parts }: EventOf<"text_withdrawn">): void {
    for (const part of parts) {
      const text = this.#texts.get(part);
      if (!text) continue;
      text.item[TEXT_KINDS[text.kind].list] = [];
      this.#close(text.at.output_index, text.item, "incomplete");
    }
  }

  ask(event: EventOf<"approval_requested">): void {
    const item = toApprovalRequest(event);
    this.#close(this.#open(item), item, "completed");
  }

  openCall(event: EventOf<"tool_call_start">, approvalId: string | undefined): void {
    const { toolCallId, toolName, args } = event;
    if (this.#calls.has(toolCallId)) return;
    const item = toCall(toolCallId, toolName, approvalId ?? null);
    const at = { item_id: item.id, output_index: this.#open(item) };
    this.#calls.set(toolCallId, at.output_index);
    this.#send("mcp_call.in_progress", at);
    this.#writeArguments("mcp_call", item, { at, args });
  }

  /** A call of a tool of the client is whole at once: the client runs it. */
  returnCall({ part, toolName, args }: EventOf<"client_tool_call">, runId: RunId): void {
    const item = toClientCall(runId, part, toolName);
    const output_index = this.#open(item);
    this.#writeArguments("function_call", item, { at: { item_id: item.id, output_index }, args });
    this.#close(output_index, item, "completed");
  }

  #writeArguments(
    kind: "mcp_call" | "function_call",
    item: OutputItem,
    { at, args }: { readonly at: object; readonly args: JsonObject },
  ): void {
    item["arguments"] = JSON.stringify(args);
    this.#send(`${kind}_arguments.delta`, { ...at, delta: item["arguments"] });
    this.#send(`${kind}_arguments.done`, { ...at, arguments: item["arguments"] });
  }

  /** A call that began in an earlier response, or that no gate let begin, opens here. */
  closeCall(event: EventOf<"tool_call_result">, approvalId: string | undefined): void {
    const { status, tool_identity, result_payload } = event.observation;
    const refused = toCall(event.toolCallId, tool_identity.name, approvalId ?? null);
    const output_index = this.#calls.get(event.toolCallId) ?? this.#open(refused);
    const item = this.items[output_index] ?? refused;
    if (status.is_error) item["error"] = describeErrors(event.observation);
    else item["output"] = JSON.stringify(result_payload.data ?? {});
    const how = status.is_error ? "failed" : "completed";
    this.#send(`mcp_call.${how}`, { item_id: item.id, output_index });
    this.#close(output_index, item, how);
  }

  /** Nothing follows in this response. */
  closeAll(): void {
    for (const [at, item] of this.items.entries()) {
      if (item.status === "in_progress") this.#close(at, item, "incomplete");
    }
  }

  #open(item: OutputItem): number {
    this.#send("output_item.added", { output_index: this.items.length, item });
    return this.items.push(item) - 1;
  }

  #close(output_index: number, item: OutputItem, status: OutputItem["status"]): void {
    item.status = status;
    this.#send("output_item.done", { output_index, item });
  }
}
