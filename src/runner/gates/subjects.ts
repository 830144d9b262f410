import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ShownStates } from "../../protocol/approval/packet.ts";
import type { BudgetAmounts } from "../../protocol/budget/amounts.ts";
import type { ConnectionId } from "../../protocol/identity/ids.ts";
import type { Operation } from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { DataClassification } from "../../protocol/tool/data-class.ts";
import type { ToolCall } from "../../protocol/tool/call.ts";
import type { Authority } from "../authority/open-authority.ts";
import type { Terms } from "../terms.ts";

/** What policy decides about before anybody looks at an argument. */
export interface ToolUnderTerms {
  readonly terms: Pick<Terms, "policy">;
  readonly tool: BoundToolRuntime;
  /** Classes of the data that the model had been shown when it proposed the call. */
  readonly shownData: readonly DataClassification[];
}

/** Argument text as a model, or an approver who edits, wrote it. */
export type ArgumentText = Pick<ToolCall, "argumentsText" | "truncated">;

/** Subject of the group `readArguments`. */
export interface ArgumentsSubject {
  readonly tool: BoundToolRuntime;
  readonly call: ArgumentText;
  /** Empty until the gate `parse` has read them. */
  readonly args: JsonObject;
}

/** Arguments that fit the contract. */
export interface AcceptedArguments {
  readonly args: JsonObject;
  /** Redacted. */
  readonly shown: JsonObject;
  /** `sha256:…` over `args` in canonical JSON. */
  readonly payloadHash: string;
}

/** Subject of the group `obeyPolicy`. */
export interface PolicySubject extends ToolUnderTerms {
  /** Validated. */
  readonly args: JsonObject;
  /** Fields that a person has still to answer; the completed arguments pass every rule. */
  readonly unanswered?: readonly string[] | undefined;
  readonly operation: Operation;
  /** The one connection that the call may use; the gate `authorise` finds it. */
  readonly connectionId: ConnectionId | undefined;
  /** The workspace that the call may use; the same gate checks the membership. */
  readonly workspaceId: string | undefined;
  /** What the call takes of budgets; the ceilings' gate counts it. */
  readonly amounts: BudgetAmounts;
  /** Absent until the target's state is read. It may hold the amount that the call moves. */
  readonly previewed?: ShownStates | undefined;
}

/** A call that the run may not want any more. */
export interface WantedSubject {
  readonly tool: BoundToolRuntime;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /** The tool ran in an earlier attempt; a steering message does not stop such a call. */
  readonly hasBegun: boolean;
  /** A saga asks, and no model: neither what models did wrong nor a steering message stops it. */
  readonly isStep: boolean;
}

/**
 * Subject of the group `checkStillValid`: a call that policy allows, and what it would run with.
 */
export interface ValiditySubject extends WantedSubject {
  readonly accepted: AcceptedArguments;
  readonly authority: Authority;
}
