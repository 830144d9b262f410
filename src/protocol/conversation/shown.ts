import type { ApprovalSummary } from "../approval/view.ts";
import type { PacketLine } from "../approval/packet-lines.ts";
import type { RunId, ToolCallId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { ObservationObject } from "../outcome/observation.ts";
import type { DoneReason, RunError } from "../run/event.ts";
import type { RunStatus } from "../run/state.ts";
import type { ShownContent } from "../tool/content.ts";
import type { ShownDetails } from "../tool/details.ts";
import type { Feedback } from "./feedback.ts";
import type { FilePart, MediaType } from "./file-part.ts";

/** A file of a message: what it is, and nothing of its content. */
export interface ShownFile {
  readonly type: FilePart["type"];
  readonly name?: string;
  /** Absent for a file by address, like `bytes`. */
  readonly mediaType?: MediaType;
  readonly bytes?: number;
  readonly url?: string;
}

/** One part of an answer, as the events of its run showed it. */
export type ShownPart =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | ShownCallPart;

/** A tool call. Arguments and result are those that readers of the stream got. */
export interface ShownCallPart {
  readonly type: "tool-call";
  readonly toolCallId: ToolCallId;
  readonly toolName: string;
  readonly args?: JsonObject;
  readonly result?: ObservationObject;
  readonly content?: readonly ShownContent[];
  readonly details?: ShownDetails;
  /** The last approval of the call, as it ended, and what people read. */
  readonly approval?: ApprovalSummary;
  readonly lines?: readonly PacketLine[];
}

/** One message as the person may see it. */
export type ShownMessage =
  | {
      readonly role: "user";
      readonly text: string;
      readonly files?: readonly ShownFile[];
      /** The client's own id of a message that was said while the run went on. */
      readonly messageId?: string;
    }
  | { readonly role: "assistant"; readonly parts: readonly ShownPart[] }
  /** An answer that a client posted as history: nobody knows who wrote it. */
  | { readonly role: "assistant"; readonly text: string; readonly isClaimed: true };

/** What a run shows of itself in its conversation. Times are ISO 8601, UTC. */
export interface ShownRun {
  readonly runId: RunId;
  readonly status: RunStatus;
  readonly reason?: DoneReason;
  readonly error?: RunError;
  readonly title?: string;
  readonly createdAt: string;
  readonly endedAt?: string;
  readonly messages: readonly ShownMessage[];
}

/** One turn of a conversation, `GET /v1/conversations/:id/messages`. */
export interface ShownTurn extends ShownRun {
  /** Absent at a root. */
  readonly parentId?: RunId;
  readonly messageId?: string;
  /** What its person thinks of the answer. */
  readonly feedback?: Feedback;
}
