import type { BudgetRaise } from "../budget/raise.ts";
import type { Reached } from "../policy/jurisdiction.ts";
import type { JsonObject } from "../json/value.ts";
import type { Question } from "./question.ts";
import type { Sources } from "../label/source.ts";
import type { SideEffectClass } from "../tool/effect.ts";

/**
 * What approvers see before they vote: the twelve fields of seeds/004, "Confirmation Gates". The
 * approvers themselves are missing here, because they are known only once they vote; see
 * ApprovalView. Values are unchanged: code that shows them calls toVisible first.
 */
export type ConfirmationPacket = {
  readonly actionName: {
    /** The author's text, or the tool's name without one. */
    readonly title: string;
    readonly tool: string;
    /** The tool's name for people; absent: its contract has none. */
    readonly toolTitle?: string;
    readonly version: string;
  };
  readonly consequence: string;
  /** What the person is asked. Absent: a vote alone. */
  readonly question?: Question;
  /** The limit of the run that people are asked to raise. Absent: none. */
  readonly raise?: BudgetRaise;
  /** What the model had been shown when it proposed the call. Absent: no text of others. */
  readonly after?: Sources;
  /**
   * JSON pointers to the arguments that are new after text of others: recipients, accounts and
   * hosts that neither the person's messages nor an earlier write of the run names. Absent: none.
   */
  readonly newHere?: readonly string[];
  /** The workspace in which the call acts; absent for a call without one. */
  readonly workspaceId?: string;
  readonly arguments: {
    /** Redacted by the contract's allowlist. */
    readonly shown: JsonObject;
    /** JSON pointers to the values that redaction withholds. */
    readonly withheld: readonly string[];
  };
  /** The steps of a saga, in their order; absent for any other tool. */
  readonly steps?: readonly PacketStep[];
  /** Null when the contract does not know the state. */
  readonly beforeState: JsonObject | null;
  readonly afterState: JsonObject | null;
  /** Fields of both states that may change until the call runs; absent when there are none. */
  readonly drifting?: readonly DriftingField[];
  /** Fingerprint of the invocation's idempotency key. */
  readonly idempotencyFingerprint: string;
  readonly riskClass: SideEffectClass;
  /** The class of the data that the tool handles, and who is responsible for the tool. */
  readonly dataClass: string;
  /** Where the services lie that the call reaches; absent where the policy names no region. */
  readonly jurisdiction?: readonly Reached[];
  readonly owner: string;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
  readonly compensation: {
    readonly reversible: boolean;
    /** The tool that undoes the call. */
    readonly tool: string | null;
    readonly note: string;
  };
  readonly rejectionPath: string;
  readonly traceId: string;
};

/** The states of a call's target, as people may see them. */
export type ShownStates = Pick<ConfirmationPacket, "beforeState" | "afterState">;

/** A shown field whose change asks nobody again. */
export type DriftingField = {
  /** Dotted path into the state. */
  readonly field: string;
  readonly reason: string;
};

/** One step of a saga, as its approvers see it. */
export type PacketStep = {
  readonly tool: string;
  readonly version: string;
  /**
   * Null when nobody knows the arguments before the saga begins. The approval does not cover such a
   * step: it asks for itself if it needs an approval.
   */
  readonly payload: {
    readonly title: string;
    readonly arguments: ConfirmationPacket["arguments"];
    /** Of the payload. */
    readonly fingerprint: string;
  } | null;
};
