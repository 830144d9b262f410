import type { ModelFailure, ModelFinish } from "../model/event.ts";
import type { PolicyPin } from "../policy/pin.ts";
import type { Usage } from "../model/usage.ts";

/** What a run notes about itself, so that another life of its object can go on with it. */
export interface RunFacts {
  /** Model calls counted, each before it was made; those that the provider refused do not count. */
  readonly modelCalls: number;
  /** The policy that the run stands on; absent until it is known, or when there is none. */
  readonly pin: PolicyPin | undefined;
  /** The last finished model call; its text and its calls stand in the transcript and in the records. */
  readonly answer: RecordedAnswer | undefined;
  /** Tokens that count for the run, with those held for a model call under way; absent without a limit. */
  readonly tokens?: number;
  /** The newest model call for which tokens were held. */
  readonly reservation?: TokenReservation | undefined;
}

/** Tokens that are held for a model call while nobody knows how many it uses. */
export interface TokenReservation {
  /** Names it in the tenant's ledger. */
  readonly id: string;
  /** Which of the run's model calls it is. */
  readonly modelCall: number;
  readonly tokens: number;
  /** The longest answer they are enough for. */
  readonly maxOutputTokens: number;
}

/** Why a run is stopped before its end. */
export type StopReason =
  | "cancelled"
  /** Its time is up. */
  | "time"
  /** It was interrupted too often. */
  | "interrupted";

/** How one model call ended. */
export interface RecordedAnswer {
  readonly step: number;
  /** Which of the run's model calls it was. */
  readonly modelCall: number;
  readonly finish: ModelFinish;
  readonly usage: Usage;
  readonly failure?: Pick<ModelFailure, "code" | "status">;
}

/** Where every run begins. */
export const NO_FACTS: RunFacts = { modelCalls: 0, pin: undefined, answer: undefined };
