import type { PersonWorkspaces } from "./people.ts";
import type { ActorId, RunId, ToolCallId } from "../protocol/identity/ids.ts";
import type { ToolInvocationContext } from "../protocol/invocation/record.ts";
import type { Given } from "../protocol/json/author-data.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { Sources } from "../protocol/label/source.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { Follower } from "../protocol/policy/membership.ts";
import type { WorkspaceAddress } from "../protocol/workspace/address.ts";

/** An operation writes, or only reads. */
export type OperationKind = "read" | "write";

/** What a call names of an operation, with the types of its arguments and its result. */
export interface OperationName<Args, Data> {
  readonly name: string;
  readonly kind: OperationKind;
  /** Never set: it carries the types. */
  readonly types?: { readonly args: Args; readonly data: Data };
}

/**
 * The workspace of a call's contract and of its run. It carries the key, the person and the
 * deadline of the call along.
 * Contract: one write for each call of a tool; a read-only tool, and every function that only
 * asks, can read alone. A write that arrives again answers its stored result.
 * Fails: what the operation fails with; STRUCTURAL_VIOLATION, TYPE_MISMATCH and OUT_OF_BOUNDS for
 * arguments that do not fit; SIGNATURE_MISMATCH for a second write of one call; TIMEOUT after the
 * deadline; DEPENDENCY_UNAVAILABLE when the workspace cannot be reached or opened; UNKNOWN_ERROR
 * when the operation throws. Throws when a call that may only read names a write.
 */
export interface Workspace {
  call<Args, Data>(
    operation: OperationName<Args, Data>,
    args: Given<Args>,
  ): Promise<Result<Data, ToolFailure>>;
  /**
   * Answers what the write of this call would answer now, and changes nothing. A write that an
   * earlier attempt of the call has made answers its stored result.
   * Contract: for the functions of a tool with an effect. Throws for any other call.
   */
  rehearse<Args, Data>(
    operation: OperationName<Args, Data>,
    args: Given<Args>,
  ): Promise<Result<Data, ToolFailure>>;
}

/** One call of an operation, as the object of the workspace receives it. */
export interface OperationCall {
  readonly workspace: WorkspaceAddress;
  readonly operation: string;
  readonly args: unknown;
  readonly actorId: ActorId;
  /** The person for whom the actor acts. */
  readonly subjectId?: ActorId;
  readonly runId: RunId;
  /** The first run of the conversation. */
  readonly conversationId: RunId;
  /** Absent for the context hook. */
  readonly toolCallId?: ToolCallId;
  /** The idempotency key. Present exactly when the call may write. */
  readonly key?: string;
  /**
   * The key of the write that the call rehearses; `key` is absent then.
   * Threat: older code ignores this field. It refuses a write without `key`.
   */
  readonly rehearsalKey?: string;
  /** How long the contract's key is remembered. Unit: milliseconds. */
  readonly keyTtlMs?: number;
  /** After what a write is made. Absent: nothing that others wrote. */
  readonly fromUntrusted?: Sources;
  /** From this time on the call does nothing. Unit: Unix milliseconds. */
  readonly deadlineMs: number;
}

/** What all attempts under one key have done together, by the ledger. */
export type WriteState = "changed" | "unchanged";

export interface OperationAnswer {
  readonly result: Result<JsonObject, ToolFailure>;
  /** Absent for a read, and when the ledger was not asked. */
  readonly write?: WriteState;
  /** After what the rows were written that the operation read. Absent: nothing of others. */
  readonly fromUntrusted?: Sources;
}

/** Where the texts of a call come from, as its workspace has to know and to tell. */
export interface RowSources {
  /** Lists what the call is made after, and where the rows come from that it has read. */
  list(): Sources;
  /** Tells whether it has read rows that were written after text of others. */
  hasRead(): boolean;
  /** Takes where rows come from that the call reads. */
  note(sources: Sources): void;
}

/** Why an object opens no stream of changes; docs/http.md lists the codes. */
export type FollowRefusal = "workspace_not_found" | "too_many_readers" | "policy_unavailable";

/** Reaches the objects of workspaces. */
export interface WorkspaceGateway {
  /** Contract: never throws. */
  call(call: OperationCall): Promise<OperationAnswer>;
  /**
   * Streams the changes after a revision; without one, those that come. The object asks the current
   * policy before it opens the stream, and again before each change that it sends.
   */
  follow(
    workspace: WorkspaceAddress,
    follower: Follower,
    after: number | undefined,
  ): Promise<Result<Response, FollowRefusal>>;
  /**
   * Ends the streams of those who may not follow any more.
   * Contract: never throws; who is not reached gets no further change.
   */
  recheck(workspace: WorkspaceAddress): Promise<void>;
}

/** RPC of the object of a workspace. Contract: shapes hold for one release; see RunMethods. */
export interface WorkspaceMethods extends PersonWorkspaces {
  call(call: OperationCall): Promise<OperationAnswer>;
  recheck(): Promise<void>;
}

/** In whose name a workspace is used. Contract: a gate has checked the membership. */
export interface WorkspaceUser extends Pick<
  ToolInvocationContext,
  "runId" | "tenantId" | "actorId" | "subjectId" | "workspaceId"
> {
  /** The first run of the conversation. */
  readonly conversationId: RunId;
  /** Absent for the context hook. */
  readonly toolCallId?: ToolCallId;
}

/** One call of a tool or of the context hook, for which a workspace is bound. */
export interface WorkspaceBinding {
  /** The name of the workspace's definition. */
  readonly name: string;
  readonly user: WorkspaceUser;
  /** How long the call may take from now on. Unit: milliseconds. */
  readonly timeoutMs: number;
  readonly sources: RowSources;
  /** The key of the call's write. Absent: the call rehearses none. */
  readonly rehearsalKey?: string;
  /** Absent: the call may only read. */
  readonly write?: WorkspaceWrite;
}

/** The one write of a call. */
export interface WorkspaceWrite {
  readonly key: string;
  readonly keyTtlMs: number;
  /** Takes what the ledger says about the write. */
  readonly note: (write: WriteState) => void;
}

/** Binds workspaces to calls of tools and of the context hook. */
export interface WorkspaceBinder {
  bind(binding: WorkspaceBinding): Workspace;
}
