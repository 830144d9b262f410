import type { JsonValue } from "../../../protocol/json/value.ts";
import type { ApprovalInfo } from "../../approval/info.ts";
import type { Field } from "./fields.ts";
import type { GrowingText } from "../../markdown/growing-text.ts";
import type { ToolContentPart } from "./tool-content.ts";
import type { ToolDetails } from "./tool-details.ts";
import type { ToolOutcome, ToolProgress } from "./tool-outcome.ts";

export interface TextPart {
  readonly kind: "text";
  readonly index: number;
  readonly text: GrowingText;
}

/** A reasoning summary, in words of the model. It is no part of the answer's text. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly index: number;
  readonly text: GrowingText;
}

/** `awaiting_operator`: the call's outcome is unknown, and an operator was asked to resolve it. */
export type ToolPartState =
  | "requested"
  | "awaiting_approval"
  | "running"
  | "awaiting_operator"
  | "done"
  | "failed";

export interface ToolPart {
  readonly kind: "tool";
  readonly index: number;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The tool's name for people. */
  readonly title?: string;
  readonly state: ToolPartState;
  readonly argsText: string;
  /** Set once the tool runs. */
  readonly args?: readonly Field[];
  /** The same arguments as data. */
  readonly rawArgs?: JsonValue;
  readonly progress?: ToolProgress;
  /** Until when an operator can resolve the unknown outcome. Unit: Unix milliseconds. */
  readonly resolveUntilMs?: number;
  /** The newest approval of the call. */
  readonly approval?: ApprovalInfo;
  readonly outcome?: ToolOutcome;
  /** What the tool answered beside its data. */
  readonly content?: readonly ToolContentPart[];
  /** What the tool tells the reader, and no model: so far while it runs, then with its result. */
  readonly details?: ToolDetails | undefined;
}

/** A steering message that the reader sent during the answer. */
export interface UserPart {
  readonly kind: "user";
  /** Below zero, because parts of the run have indices from zero. */
  readonly index: number;
  readonly text: string;
}

/** Keeps the index of a withdrawn text or reasoning. The words themselves are not kept. */
export interface WithdrawnPart {
  readonly kind: "withdrawn";
  readonly index: number;
}

/** Something that the reader should know about the answer. */
export interface NotePart {
  readonly kind: "note";
  /** Below zero, as that of a UserPart. */
  readonly index: number;
  readonly text: string;
}

export type Part = TextPart | ReasoningPart | ToolPart | UserPart | NotePart | WithdrawnPart;

/** The events of a run so far, as the page shows them. */
export interface AnswerState {
  readonly parts: readonly Part[];
  readonly runId?: string;
  readonly model?: string;
  readonly title?: string;
  /** Set once the run ended. `code` and `message` belong to a failed run. */
  readonly done?: {
    readonly reason: string;
    readonly code?: string;
    readonly message?: string;
  };
}

export const EMPTY_ANSWER: AnswerState = { parts: [] };
