import * as v from "valibot";
import { connectionId } from "../connection/stored.ts";
import type { RunId } from "../identity/ids.ts";
import { invocationIdOf } from "../invocation/id.ts";
import { workspaceId } from "../workspace/address.ts";
import { isJsonObject, type JsonObject } from "../json/value.ts";

/** Accepts the body of `POST /v1/tools/:id/invoke`. It is closed: an unknown field is refused. */
export const invokeBody = v.strictObject({
  arguments: v.custom<JsonObject>(isJsonObject, "a JSON object"),
  connectionIds: v.optional(v.pipe(v.array(connectionId), v.maxLength(16))),
  /** Absent: the one workspace of which the caller is a member. */
  workspaceId: v.optional(workspaceId),
});

/** The one call of a run that asks no model: somebody called a tool directly. */
export interface DirectCall {
  readonly toolId: string;
  /** JSON of an object. It never leaves the run's storage. */
  readonly argumentsText: string;
  /** The completed call that this one undoes. */
  readonly undoes?: UndoneCall & {
    /** The event part that shows the call. */
    readonly part?: number;
    /** The `traceparent` of its run. */
    readonly trace?: string;
  };
}

/** Names an invocation of another run. */
export interface UndoneCall {
  readonly runId: RunId;
  readonly invocation: number;
}

/** What people see of a direct call. */
export interface ShownCall {
  readonly toolId: string;
  readonly undoes?: { readonly runId: RunId; readonly invocationId: string };
}

/** Shows a direct call without its arguments. Contract: pure. */
export function showCall({ toolId, undoes }: DirectCall): ShownCall {
  if (!undoes) return { toolId };
  const { runId, invocation } = undoes;
  return { toolId, undoes: { runId, invocationId: invocationIdOf(invocation) } };
}

/** Stands where the id of a model stands, in a run that asks no model. */
export const NO_MODEL = "none";
