import type { RunId, TenantId, ActorId } from "../protocol/identity/ids.ts";
import type { RunOwner, Viewer } from "../protocol/identity/viewer.ts";
import type { EventPosition } from "../protocol/run/event-id.ts";
import type { ApprovalView } from "../protocol/approval/view.ts";
import type { VoteRefusal } from "../protocol/approval/vote.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { FieldError } from "../protocol/outcome/observation.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { StreamedRun } from "../protocol/run/client-wire.ts";
import type { LoggedEvent } from "../protocol/run/event.ts";
import type { RunState } from "../protocol/run/state.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { InvocationState } from "../protocol/invocation/state.ts";
import type { TaxonomyClass } from "../protocol/outcome/taxonomy.ts";

/**
 * Makes run ids and tells a tenant's own from all others.
 * Contract: `verify` answers undefined for a foreign, a made-up and a malformed id alike, and touches
 * no storage.
 */
export interface RunIds {
  mint(tenantId: TenantId): Promise<RunId>;
  /** Makes the one id of all requests that an owner of runs makes under a key. */
  derive(owner: RunOwner, key: string): Promise<RunId>;
  verify(text: string, tenantId: TenantId): Promise<RunId | undefined>;
}

/** There is nothing to tell: no such run, or only that there was one. */
export type NoRun = { readonly kind: "unknown" | "gone" };

export type RunAnswer = { readonly kind: "run"; readonly state: RunState } | NoRun;

/** A run's conversation, for the run that continues it. */
export type TranscriptAnswer =
  | {
      readonly kind: "transcript";
      readonly messages: readonly TranscriptMessage[];
      /** The first run of the conversation. */
      readonly workflowId: RunId;
    }
  | { readonly kind: "running" }
  /** It passed MAX_CONVERSATION_BYTES. */
  | { readonly kind: "too_long" }
  | NoRun;

/** A message for a run; what comes again under one key is one message. */
export interface Steering {
  readonly text: string;
  /** Names the request, and who makes it. */
  readonly requestKey?: string;
}

/** What became of a message for a run. */
export type SteerAnswer =
  | { readonly kind: "taken"; readonly state: RunState }
  /** It is over, or so near its end that no step would answer. */
  | { readonly kind: "ended" }
  /** Too many messages wait for the next step. */
  | { readonly kind: "full" }
  /** Another message came under this key. */
  | { readonly kind: "key_reused" }
  | NoRun;

/** What an operator found out about a call. */
export interface OutcomeReport {
  /** Number of the invocation within its run. */
  readonly invocation: number;
  readonly outcome: "committed" | "not_committed";
  readonly by: ActorId;
}

/** What became of an operator's word. */
export type OutcomeAnswer =
  | { readonly kind: "settled"; readonly state: RunState }
  /** Nobody is asked about it, or somebody has said otherwise. */
  | { readonly kind: "not_awaited" }
  | { readonly kind: "unknown_invocation" }
  | NoRun;

/** What a person says to a question. */
export interface Decision {
  readonly decision: "approve" | "reject";
  readonly reason?: string;
  /** What they want instead, with their approval. */
  readonly arguments?: JsonObject;
  /** It is one of many that are decided together. */
  readonly isBulk?: boolean;
}

/** Which question of a run, and who wants to know or decide. */
export interface ApprovalQuery {
  readonly invocation: number;
  readonly generation: number;
  readonly principal: Principal;
}

export type ApprovalAnswer =
  | {
      readonly kind: "approval";
      readonly approval: ApprovalView;
      /** Why the caller may not approve it; absent when they may. */
      readonly mayNot?: VoteRefusal | "closed";
    }
  /** No such question, or none that the caller may see. */
  | { readonly kind: "unknown_approval" }
  | NoRun;

/** What became of a person's word. */
export type DecisionAnswer =
  | { readonly kind: "decided"; readonly approval: ApprovalView }
  /** It was decided before, by somebody, or by time. */
  | { readonly kind: "closed"; readonly approval: ApprovalView }
  | { readonly kind: "not_allowed"; readonly why: VoteRefusal | "not_bulk" }
  | { readonly kind: "arguments_refused"; readonly errors: readonly FieldError[] }
  | { readonly kind: "unknown_approval" }
  | NoRun;

/** Who opens a stream of a run, and in which wire. */
export interface RunReader {
  readonly viewer: Viewer;
  /** Name of a client wire. */
  readonly wire: string;
}

/**
 * Reaches the object that owns a run.
 * Contract: ids are verified before they come here. A run that was never started, or that the viewer may
 * not see, answers `unknown`; one of which only its tombstone is left `gone`.
 * The bodies are event streams in the wire of the reader and must be handed through untouched; 406 for
 * a wire that the object does not know, which a deploy can cause.
 */
export interface RunGateway {
  /** Claims and starts a run; answers with its event stream, or as `repeat` when it is claimed. */
  start(claim: RunClaim, wire: string): Promise<Response>;
  /**
   * Answers a request that came under the key of a run: 200 with the whole stream once the run has
   * ended, 409 while it goes, 410 once its events are gone, 422 when the run was started by another body,
   * 404 for no such run.
   */
  repeat(runId: RunId, reader: RunReader, requestHash: string): Promise<Response>;
  /**
   * Answers with the events after a position, from the first one without it: 200 with a stream, 204
   * when the run ended there, 404 for no such run, 410 once its events are gone, 409 for a position the run never reached, 429 when
   * too many readers follow it already.
   */
  events(runId: RunId, reader: RunReader, after: EventPosition | undefined): Promise<Response>;
  state(runId: RunId, viewer: Viewer): Promise<RunAnswer>;
  /** Asks a run to stop; answers with its state once it has. Contract: idempotent. */
  cancel(runId: RunId, viewer: Viewer): Promise<RunAnswer>;
  /** Says something to a run while it goes. Contract: a message that is `taken` is never lost. */
  steer(runId: RunId, viewer: Viewer, steering: Steering): Promise<SteerAnswer>;
  /** Tells what became of a call whose outcome is not known. Contract: the first word stays. */
  settle(runId: RunId, viewer: Viewer, report: OutcomeReport): Promise<OutcomeAnswer>;
  transcript(runId: RunId, viewer: Viewer): Promise<TranscriptAnswer>;
  approval(runId: RunId, query: ApprovalQuery): Promise<ApprovalAnswer>;
  /**
   * Takes a person's word on a question. Contract: the first that decides it stays; the same word again
   * is answered as the first time.
   */
  decide(runId: RunId, query: ApprovalQuery, decision: Decision): Promise<DecisionAnswer>;
}

/** What is published of a finished run that came under a key. */
export interface RunRecord {
  readonly requestHash: string;
  readonly run: StreamedRun;
  /** All its events, in their order; each reader gets them encoded in its own wire. */
  readonly events: readonly LoggedEvent[];
}

/** What is published of an operation that changes something, once it has ended. No word of its arguments. */
export interface InvocationNotice {
  readonly runId: RunId;
  readonly invocationId: string;
  readonly toolId: string;
  readonly version: string;
  readonly state: InvocationState;
  readonly payloadHash: string;
  readonly outcome: TaxonomyClass;
  /** Unit: Unix milliseconds. */
  readonly endedAtMs: number;
}

/**
 * Publishes what has ended, so that a repeated request is answered without waking the run's object, and
 * so that others can read what became of an operation.
 * Contract: never throws and never decides: a record that is absent, late or lost costs one hop to the
 * object, which knows. Publishing answers false when it is to be tried again.
 */
export interface RunRecords {
  publish(runId: RunId, record: RunRecord): Promise<boolean>;
  publishInvocation(
    tenantId: TenantId,
    idempotencyKey: string,
    notice: InvocationNotice,
  ): Promise<boolean>;
  find(runId: RunId): Promise<RunRecord | undefined>;
}
