import type { AssistantPin } from "../assistant/pin.ts";
import type { ConnectionId, RunId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { AnswerSettings } from "../model/answer-settings.ts";
import type { DeclaredModel } from "../model/declaration.ts";
import type { Principal } from "../identity/principal.ts";
import type { DirectCall } from "./direct-call.ts";
import type { CallLimits, RunLimits } from "../policy/limits.ts";
import type { TranscriptMessage } from "../conversation/message.ts";
import type { SummaryJob } from "../conversation/summary-job.ts";
import type { ShownTool } from "../tool/spec.ts";
import type { FirstPost, HistoryReference } from "../conversation/turn.ts";

/** The checked request that starts a run. The run needs nothing else from the request. */
export interface RunClaim {
  readonly runId: RunId;
  /** The first run of the conversation; absent when this run is the first. */
  readonly workflowId?: RunId;
  readonly principal: Principal;
  /** `sha256:…` over the body in canonical JSON; present for a request with an idempotency key. */
  readonly requestHash?: string;
  /** Absent in a run of one call. */
  readonly assistant?: AssistantPin;
  /** The template of the assistant's instructions. Absent: none. No client gets it. */
  readonly instructions?: string;
  /** What the client sent for the model to read as data; untrusted. */
  readonly context?: JsonObject;
  /** `NO_MODEL` in a run of one direct call. */
  readonly model: string;
  /** The only call of this run. Absent: the run asks a model. */
  readonly call?: DirectCall;
  /** A model of the tenant's own provider, as it was allowed when the run started. */
  readonly ownModel?: DeclaredModel;
  /** Models of the same provider that may answer in its place. */
  readonly ownFallbacks?: readonly DeclaredModel[];
  /** Absent: as the model likes. */
  readonly settings?: AnswerSettings;
  /** What the request says. */
  readonly messages: readonly TranscriptMessage[];
  /** The post that began a chat under the client's own name. */
  readonly firstPost?: FirstPost;
  /** The earlier turns that the model is shown. Absent: the run continues none. */
  readonly history?: HistoryReference;
  /** The messages behind `history`, which no run stores. A later incarnation reads them again. */
  readonly window?: readonly TranscriptMessage[];
  /** Turns that the run summarises before it asks its model. */
  readonly summarise?: SummaryJob;
  /** The model of the tenant's own provider that writes the summary. */
  readonly ownSummaryModel?: DeclaredModel;
  /** When the turn of the run was opened; absent in a first run. Unit: Unix milliseconds. */
  readonly openedMs?: number;
  /** Content of the files that this request brought, in base64 by hash. */
  readonly files?: Readonly<Record<string, string>>;
  /** Narrows the catalog to these tools; absent means every tool that policy allows. */
  readonly toolIds?: readonly string[];
  /** Tools that the client declared and runs itself: their calls go back to the client. */
  readonly clientTools?: readonly ShownTool[];
  /** Limits that may lower the policy's limits, never raise them. */
  readonly budgets?: RunLimits;
  /** Limits that the person set below the policy's, and may raise again up to those. */
  readonly ownLimits?: CallLimits;
  /** Connections that the run's tools may use where policy grants them; absent means none. */
  readonly connectionIds?: readonly ConnectionId[];
  /** The `traceparent` of the trace that the run is part of. Absent: the run begins one. */
  readonly trace?: string;
  /** The workspace that the request named; nobody has checked the membership yet. */
  readonly workspaceId?: string;
}
