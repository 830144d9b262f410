import { createCall } from "../../../client/call.ts";
import { type ClientOptions, toPorts } from "../../../client/ports.ts";
import { describeFailure } from "../../describe-failure.ts";
import { isJsonObject, type JsonValue } from "../../../protocol/json/value.ts";
import { type NamedSource, saySources } from "./say-sources.ts";

/** How undoing a call stands; see docs/undo.md. */
export type UndoStatus = "available" | "running" | "undone" | "stale" | "failed";

/** One call of a run, as far as undoing it is concerned. */
export interface UndoCall {
  readonly toolCallId: string;
  readonly invocationId: string;
  /** What the model had read before it asked for the call, in words. */
  readonly after?: string;
  /** The approval that the call waits for. */
  readonly approvalId?: string;
  /** Absent: the reader cannot undo the call, and nobody did. */
  readonly undo?: { readonly status: UndoStatus; readonly runId?: string };
}

/** The part of the public API that undo needs. Contract: no method throws. */
export interface UndoApi {
  /** Reads the calls of a run; undefined when the run cannot be read. */
  calls(runId: string): Promise<readonly UndoCall[] | undefined>;
  /** Asks to undo a call; answers why it was refused, for the reader. */
  undo(runId: string, invocationId: string): Promise<string | undefined>;
  /** Gets the event `undone` when the page undid a call elsewhere. */
  readonly elsewhere: EventTarget;
}

/** Creates what undo needs on the typed client. */
export function createUndoApi(options: ClientOptions): UndoApi {
  const call = createCall(toPorts(options));
  return {
    elsewhere: new EventTarget(),
    async calls(id) {
      const read = await call("GET /v1/runs/{id}", { path: { id } });
      const body: unknown = read.ok && read.value;
      return isJsonObject(body) ? listOf(body["toolCalls"]).flatMap(readCall) : undefined;
    },
    async undo(id, invocationId) {
      const path = { id, invocationId };
      const asked = await call("POST /v1/runs/{id}/invocations/{invocationId}/compensate", {
        path,
      });
      // An undo that goes on already is what the reader wants.
      const isUnderWay = asked.ok || asked.failure.code === "request_in_progress";
      return isUnderWay ? undefined : describeFailure(asked.failure);
    },
  };
}

const STATUSES: readonly string[] = [
  "available",
  "running",
  "undone",
  "stale",
  "failed",
] satisfies readonly UndoStatus[];

function readCall(value: JsonValue): readonly UndoCall[] {
  if (!isJsonObject(value)) return [];
  const { toolCallId, invocationId, approvalId, after, undo } = value;
  if (typeof toolCallId !== "string" || typeof invocationId !== "string") return [];
  const { status, runId } = isJsonObject(undo) ? undo : {};
  const isKnown = typeof status === "string" && STATUSES.includes(status);
  return [
    {
      toolCallId,
      invocationId,
      ...(after !== undefined && { after: saySources(listOf(after).map(readSource)) }),
      ...(typeof approvalId === "string" && { approvalId }),
      ...(isKnown && {
        undo: { status: status as UndoStatus, ...(typeof runId === "string" && { runId }) },
      }),
    },
  ];
}

function readSource(value: JsonValue): NamedSource {
  const { kind, tool } = isJsonObject(value) ? value : {};
  return {
    kind: typeof kind === "string" ? kind : "",
    ...(typeof tool === "string" && { tool }),
  };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
