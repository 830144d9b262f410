import type { JsonObject } from "../../protocol/json/value.ts";

/** A tool call as a card gets it. Every value in it is untrusted data, and shown as text. */
export interface ToolCardCall {
  /** Names the call within its run. */
  readonly toolCallId: string;
  readonly toolId: string;
  /** The tool's name for people, where its contract has one. */
  readonly title?: string;
  readonly state:
    | "requested"
    | "awaiting_approval"
    | "running"
    | "awaiting_operator"
    | "done"
    | "failed";
  /** The arguments that policy lets a page see. Undefined until the page has them. */
  readonly args?: JsonObject;
  readonly progress?: {
    readonly stage?: string;
    readonly text?: string;
    /** From 0 to 1. */
    readonly share?: number;
  };
  readonly approval?: { readonly title: string; readonly riskClass: string };
  /** The data of a call that succeeded. */
  readonly result?: JsonObject;
  /** What the tool tells people, and no model: so far while it runs, then with its result. */
  readonly details?: JsonObject;
}
