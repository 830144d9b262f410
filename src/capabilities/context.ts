import type { RunId } from "../protocol/identity/ids.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { Workspace } from "./workspace.ts";

/** The run for which the deployment's hook is asked. */
export interface ContextRequest {
  readonly runId: RunId;
  readonly assistantId: string;
  readonly principal: Pick<Principal, "tenantId" | "actorId" | "subjectId" | "roles" | "scopes">;
  /** The context that the client sent; untrusted. Absent: none. */
  readonly requestContext?: JsonObject;
  /**
   * Opens the workspace of the run, by the name of its definition, to read it in the caller's name.
   * Absent: the deployment hosts no workspaces, or the run names none and the caller is not a
   * member of exactly one. A read fails with PERMISSION_DENIED unless the caller is a member and
   * the run has a tool of this workspace, by the run's policy and by the current one; else it fails
   * as in a tool. An operation that writes throws.
   */
  readonly openWorkspace?: (name: string) => Pick<Workspace, "call">;
}

/** What the hook gives. Together at most 32 KiB of JSON. */
export interface ContextAnswer {
  /** Values of the template variables `{{context.<name>}}`: at most 64, of 512 characters each. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What the model reads as labelled data. */
  readonly data?: JsonObject;
  /**
   * True: nobody but the deployment wrote these values. Else calls that the model makes after them
   * name the context as a source. A hook that read marked rows of a workspace cannot say it.
   */
  readonly isTrusted?: boolean;
}

/**
 * Gives the context of one run: what the deployment knows about the caller.
 * Contract: reads only. Interlock calls it once per run, after the claim and before the first model
 * call; a crash in between calls it again. It has five seconds, and `signal` aborts after them. A
 * throw, or another shape of answer, ends the run.
 */
export type ContextHook = (request: ContextRequest, signal: AbortSignal) => Promise<ContextAnswer>;
