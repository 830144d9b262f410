import type { Budget, BudgetAmounts } from "../budget/amounts.ts";
import type { HistoryReference } from "../conversation/turn.ts";
import type { ModelWireId } from "../model/declaration.ts";
import type { ModelFailure, ModelFinish } from "../model/event.ts";
import type { PolicyPin } from "../policy/pin.ts";
import type { Usage } from "../model/usage.ts";

/** What a run records about itself, so that the object's next incarnation can continue it. */
export interface RunFacts {
  /**
   * Number of model calls, counted before each call. Calls that the provider refused do not count.
   */
  readonly modelCalls: number;
  /** The policy that the run pinned; undefined until it is known, or when there is none. */
  readonly pin: PolicyPin | undefined;
  /**
   * The last finished model call. The transcript holds its text; the records hold its tool calls.
   */
  readonly answer: RecordedAnswer | undefined;
  /** Tokens that model calls have spent and reserved; absent when there is no limit. */
  readonly tokens?: number;
  /** Their cost. Absent: no limit, or no prices. Unit: millionths of the currency. */
  readonly cost?: number;
  /** The newest reservation of tokens for a model call. */
  readonly reservation?: TokenReservation | undefined;
  /** What became of the summary that the run was to write. Absent: nothing was asked for. */
  readonly summary?: SummaryFacts;
  /** What models other than that of the request used. The log sums all models. */
  readonly usedByOthers?: Readonly<Record<string, Usage>>;
  /** What the run began with. Absent: it ended before its model was asked. */
  readonly versions?: RunVersions;
  /** Why the run ended, where its `done` event does not tell. */
  readonly because?: EndCause;
}

/** Who or what ended a run. A replay reads it. */
export type EndCause =
  | { readonly stopped: StopReason }
  | { readonly exhausted: Budget; readonly whose: "run" | "tenant" };

/** Versions of what a model was given, as evidence. The first incarnation notes them. */
export interface RunVersions {
  /** Absent in a run of one direct call, like `wire`. See `hashPrompt`. */
  readonly promptHash?: string;
  /** The format of the provider whose model was asked first. */
  readonly wire?: ModelWireId;
  readonly observationSchema: number;
  readonly wrapperVersion: string;
}

/** One attempt to summarise earlier turns. A run makes one. */
export interface SummaryFacts {
  readonly usage?: Usage;
  /** What the model of the run is shown since. Absent: the summary was not written. */
  readonly history?: HistoryReference;
}

/** Tokens that are reserved for a model call until its usage is known. */
export interface TokenReservation {
  /** The reservation's id in the tenant's ledger. */
  readonly id: string;
  /** Which of the run's model calls it is. */
  readonly modelCall: number;
  /** The model that is asked. Absent: the model of the request. */
  readonly model?: string;
  readonly tokens: number;
  /** Cost that is reserved. Absent: no limit, or no prices. */
  readonly cost?: number;
  /** What the call used; present once that is known. */
  readonly used?: ModelSpending;
  /** The longest answer that these tokens cover. */
  readonly maxOutputTokens: number;
}

/** What a model call takes of the budgets. Unit of cost: millionths of the currency. */
export type ModelSpending = Pick<BudgetAmounts, "tokens" | "cost">;

/** Why a run is stopped early. */
export type StopReason =
  | "cancelled"
  /** The run's time limit has passed. */
  | "time"
  /** The run has stored as much as it may. */
  | "storage"
  /** The run was interrupted too often. */
  | "interrupted";

/** How one model call ended. */
export interface RecordedAnswer {
  readonly step: number;
  /** Which of the run's model calls it was. */
  readonly modelCall: number;
  /** The model that answered. Absent: the model of the request. */
  readonly model?: string;
  readonly finish: ModelFinish;
  readonly usage: Usage;
  readonly failure?: Pick<ModelFailure, "code" | "status">;
}

/** Facts of a run that has just begun. */
export const NO_FACTS: RunFacts = { modelCalls: 0, pin: undefined, answer: undefined };
