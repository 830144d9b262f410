import type { ApprovalSummary } from "../approval/view.ts";
import type { ConfirmationPacket } from "../approval/packet.ts";
import type { RunId, ToolCallId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { ModelFinish } from "../model/event.ts";
import type { ObservationObject } from "../outcome/observation.ts";
import type { Usage } from "../model/usage.ts";

/** How a run ended. */
export type DoneReason =
  | "stop"
  | "length"
  | "content_filter"
  | "step_limit"
  | "cancelled"
  | "error";

/** Why a run failed, in words a client may see; never a provider's text. */
export type RunError = {
  readonly code: string;
  readonly message: string;
};

/**
 * One semantic event of a run: what the log stores and every encoder reads.
 * Contract: parts are numbered from 0 in the order they open, one number per text or tool call, so
 * that an event can be encoded without knowing the ones before it. Arguments and observations are
 * redacted. Events of different parts may interleave. A run's last event is its one `done`.
 */
export type AiEvent =
  | { readonly type: "run_started"; readonly runId: RunId; readonly model: string }
  | { readonly type: "step_started"; readonly step: number; readonly messageId: string }
  | { readonly type: "text_started"; readonly part: number }
  | { readonly type: "text_delta"; readonly part: number; readonly text: string }
  | { readonly type: "text_finished"; readonly part: number }
  /** What these text parts said is not part of the answer: the model is asked again for the whole step. */
  | { readonly type: "text_withdrawn"; readonly parts: readonly number[] }
  /** The model asked for a call; nothing about it has been checked. */
  | {
      readonly type: "tool_call_proposed";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly toolName: string;
    }
  /** Every gate passed; the tool is about to run with these (redacted) arguments. */
  | {
      readonly type: "tool_call_start";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly args: JsonObject;
    }
  /** How far the call is: numbers, and a stage that its contract declares; no free text. */
  | {
      readonly type: "tool_call_progress";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly stage?: string;
      readonly done?: number;
      readonly total?: number;
      /** From 2: this attempt is about to begin. */
      readonly attempt?: number;
    }
  /** Nobody knows what became of the call; an operator may tell. Unit: Unix milliseconds. */
  | {
      readonly type: "tool_call_waiting";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly untilMs: number;
    }
  /** People are asked whether the call may run. */
  | {
      readonly type: "approval_requested";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly approval: ApprovalSummary;
      readonly packet: ConfirmationPacket;
    }
  /** Somebody decided, or nobody did in time. */
  | {
      readonly type: "approval_updated";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly approval: ApprovalSummary;
    }
  /** Nothing goes on until people have decided; a stream that has told so may end here. */
  | { readonly type: "run_waiting"; readonly usage: Usage }
  | {
      readonly type: "tool_call_result";
      readonly part: number;
      readonly toolCallId: ToolCallId;
      readonly observation: ObservationObject;
    }
  /** A person said this to the run while it went; see Inbox. */
  | { readonly type: "user_message"; readonly text: string }
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
