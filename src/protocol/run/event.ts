import type { ApprovalSummary } from "../approval/view.ts";
import type { ConfirmationPacket } from "../approval/packet.ts";
import type { PacketLine } from "../approval/packet-lines.ts";
import type { RunId, ToolCallId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { ModelFinish } from "../model/event.ts";
import type { ObservationObject } from "../outcome/observation.ts";
import type { ShownDetails } from "../tool/details.ts";
import type { ShownContent } from "../tool/content.ts";
import type { Usage } from "../model/usage.ts";
import type { EventPosition } from "./event-id.ts";

/** How a run ended. */
export type DoneReason =
  | "stop"
  | "length"
  | "context_window"
  | "content_filter"
  | "refusal"
  | "step_limit"
  | "cancelled"
  | "error";

/** Why a run failed. Clients see both fields, so neither holds a provider's text. */
export type RunError = {
  readonly code: string;
  readonly message: string;
  /** Of an error that nobody expected: names its line in the deployment's log. */
  readonly errorId?: string;
};

/** Why another model answers: the provider's word about the former one, in neutral terms. */
export type ModelChangeReason = "retired" | "overloaded" | "unreachable" | "failing";

/** A change of the model that answers. Both are ids of declared models. */
export interface ModelChange {
  readonly from: string;
  readonly to: string;
  readonly reason: ModelChangeReason;
}

/**
 * One semantic event of a run: the log and KV store it, and every encoder reads it.
 * Contract: an event is complete, so a stateless encoder of any wire needs no other event. Every
 * text for people is in the event from the moment it is appended. Parts are numbered from 0 in the
 * order they open, one number per text, reasoning or tool call. Arguments and observations are
 * redacted. Events of different parts may interleave. The last event of a run is its only `done`.
 */
export type AiEvent =
  | { readonly type: "run_started"; readonly runId: RunId; readonly model: string }
  | { readonly type: "step_started"; readonly step: number; readonly messageId: string }
  | { readonly type: "text_started"; readonly part: number }
  | { readonly type: "text_delta"; readonly part: number; readonly text: string }
  | { readonly type: "text_finished"; readonly part: number }
  /** A reasoning summary, in words of the model. It is never part of the answer's text. */
  | { readonly type: "reasoning_started"; readonly part: number }
  | { readonly type: "reasoning_delta"; readonly part: number; readonly text: string }
  | { readonly type: "reasoning_finished"; readonly part: number }
  /**
   * These parts of text and reasoning are not part of the answer: the model is called again for the
   * whole step.
   */
  | { readonly type: "text_withdrawn"; readonly parts: readonly number[] }
  /** A fallback answers this step and the following steps. */
  | ({ readonly type: "model_changed" } & ModelChange)
  /** The model asked for a call; no gate has checked the call yet. */
  | {
      readonly type: "tool_call_proposed";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly toolName: string;
      /** The tool's name for people, where its contract has one. */
      readonly title?: string;
    }
  /** Every gate passed; the tool is about to run with these (redacted) arguments. */
  | {
      readonly type: "tool_call_start";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly toolName: string;
      readonly args: JsonObject;
      /** An approval request of the call came first, and showed its arguments. */
      readonly wasAsked?: true;
    }
  /** Progress of the call, for people: numbers, a stage that its contract declares, and a text. */
  | {
      readonly type: "tool_call_progress";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly stage?: string;
      readonly done?: number;
      readonly total?: number;
      /** Masked as a failure is, and short. */
      readonly text?: string;
      /** What the tool has found so far, for people. A later report or the result replaces it. */
      readonly details?: JsonObject;
      /** The attempt that is about to begin; absent for the first one. */
      readonly attempt?: number;
      /** When that attempt begins, if the run rests until then. Unit: Unix milliseconds. */
      readonly retryAtMs?: number;
    }
  /** The outcome of the call is unknown; an operator may resolve it until this Unix millisecond. */
  | {
      readonly type: "tool_call_waiting";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly untilMs: number;
    }
  /** The call needs an approval before it may run. */
  | {
      readonly type: "approval_requested";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly approval: ApprovalSummary;
      readonly packet: ConfirmationPacket;
      /** The packet as people read it. */
      readonly lines: readonly PacketLine[];
    }
  /** The status of an approval changed: a vote, an edit, an expiry or a withdrawal. */
  | {
      readonly type: "approval_updated";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly approval: ApprovalSummary;
    }
  /** The run waits for approvals; a stream may end after this event. */
  | { readonly type: "run_waiting"; readonly usage: Usage }
  | {
      readonly type: "tool_call_result";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly observation: ObservationObject;
      /** What the model sees beside the observation. Present exactly when there is some. */
      readonly content?: readonly ShownContent[];
      /** What the tool told people; no model sees it. Absent: nothing. */
      readonly details?: ShownDetails;
    }
  /** The run ends with this call of a tool of the client, which runs it itself, or does not. */
  | {
      readonly type: "client_tool_call";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly toolName: string;
      readonly args: JsonObject;
    }
  /** A steering message that the run accepted; see Inbox. */
  | {
      readonly type: "user_message";
      readonly text: string;
      /** The client's own id of a message that it holds. */
      readonly messageId?: string;
    }
  | { readonly type: "title_set"; readonly title: string }
  | {
      readonly type: "step_finished";
      readonly step: number;
      readonly finish: ModelFinish;
      readonly usage: Usage;
      /** True when another step follows. */
      readonly continued: boolean;
    }
  | {
      readonly type: "done";
      readonly reason: DoneReason;
      /** Sum over all steps. */
      readonly usage: Usage;
      /** Present exactly when `reason` is `error`. */
      readonly error?: RunError;
    };

/** One event and its position in the log of its run. */
export interface LoggedEvent {
  readonly event: AiEvent;
  readonly position: EventPosition;
}
