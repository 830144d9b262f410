import type { ApprovalView } from "../../protocol/approval/view.ts";
import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ObservationObject } from "../../protocol/outcome/observation.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { SentRequest } from "../tool/fake-service.ts";
import type { TestCall } from "../tool/test-call.ts";

/** The decision of a person about an approval. */
export interface Vote {
  /** The name of a person, see `person`, or the whole caller. */
  readonly by: string | Principal;
  /** Roles of a person who is named. */
  readonly roles?: readonly string[];
  readonly reason?: string;
  /** The tool of the approval. Needed only where approvals of several tools are open. */
  readonly tool?: string;
  /** The id of the approval. Needed only where several approvals of one tool are open. */
  readonly approvalId?: string;
}

/** An approval, with other arguments where the approver changes them. */
export interface ApprovingVote extends Vote {
  readonly arguments?: JsonObject;
}

/** What a person answers to the question of a call: the fields of its form. */
export interface Answer extends Omit<Vote, "reason"> {
  readonly answer: JsonObject;
}

/** A run of a test. It has ended, or it waits for people. */
export interface TestRun {
  /** `waiting`: for approvals, or for an operator. */
  readonly state: "ended" | "waiting";
  /** The last event of a run that has ended: its reason and its error. */
  readonly done: Extract<AiEvent, { type: "done" }> | undefined;
  /** All events, in order. Deltas are not joined. */
  readonly events: readonly AiEvent[];
  /** The conversation, with the messages that the run started with. */
  readonly messages: readonly TranscriptMessage[];
  /** The last text of the model. */
  readonly text: string;
  /** The tool calls, in the order asked. */
  readonly calls: readonly TestCall[];
  /** What the model was told about the calls that have ended, in the order asked. */
  readonly observations: readonly ObservationObject[];
  /** The approvals that are open, as approvers see them. */
  readonly approvals: readonly ApprovalView[];
  /** What the audit log would hold of the run's calls and approvals, in order. */
  readonly audit: readonly AuditEntry[];
  /** What tools and hooks threw, and what else the deployment's log would hold as an error. */
  readonly faults: readonly { readonly code: string; readonly thrown: unknown }[];
  /** The requests that tools sent. */
  readonly requests: readonly SentRequest[];
  /** Unit: Unix milliseconds. */
  readonly nowMs: number;

  /** Approves an open approval. The run continues when enough people have approved. */
  approve(vote: ApprovingVote): Promise<void>;

  /**
   * Answers the question of a call. The run continues with the completed arguments. Fails: rejects
   * with the fields that the form, the contract or the policy refuses.
   */
  answer(answer: Answer): Promise<void>;

  /** Rejects an open approval or question. The run continues. */
  reject(vote: Vote): Promise<void>;

  /**
   * Tells, as an operator, whether a call with an unknown outcome took effect. The run continues.
   */
  resolveOutcome(outcome: "committed" | "not_committed"): Promise<void>;

  /**
   * Lets time pass while the run waits. Approvals and unknown outcomes expire, and the run
   * continues. Unit: milliseconds.
   */
  pass(ms: number): Promise<void>;

  /** Stores another policy as the current one, while the run waits. */
  changePolicy(document: unknown): Promise<void>;
}
