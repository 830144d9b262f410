import { createCall } from "../../../src/client/call.ts";
import type { Failure } from "../../../src/client/failure.ts";
import { type ClientOptions, toPorts } from "../../../src/client/ports.ts";
import { isJsonObject, type JsonObject } from "../../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../../src/protocol/outcome/result.ts";
import { describeFailure } from "../../../src/widget/describe-failure.ts";
import { createUndoApi } from "../../../src/widget/chat/undo/undo-api.ts";
import { listOf, objectOf, textOf } from "./read-json.ts";

/** Why a call did not succeed. `message` is for the reader. */
export interface CallFailure {
  readonly code: string;
  readonly message: string;
  readonly needsToken: boolean;
}

/** A call that ended, or one that waits until people agree to it. */
export type WriteEnd =
  | { readonly kind: "done"; readonly data: JsonObject }
  | { readonly kind: "waiting"; readonly runId: string };

/** Calls GamePlan's tools. Contract: no method throws. */
export interface GameplanApi {
  /** Answers `result.data` of a tool that only reads. */
  read(tool: string, args: JsonObject): Promise<Result<JsonObject, CallFailure>>;
  /** Calls a tool that writes. The same key makes one call, however often it is sent. */
  write(tool: string, args: JsonObject, key: string): Promise<Result<WriteEnd, CallFailure>>;
  /**
   * Undoes a call; see docs/undo.md. Undefined: the reader cannot undo it. A repetition finds the
   * same undo.
   */
  undo(runId: string, toolCallId: string): Promise<Result<WriteEnd, CallFailure> | undefined>;
  /** Tells whether the reader may undo a call. */
  canUndo(runId: string, toolCallId: string): Promise<boolean>;
  /** Answers the ids of the GamePlan workspaces of which the reader is a member. */
  workspaces(): Promise<Result<readonly string[], Failure>>;
}

/** `workspaceId` undefined: the server chooses the reader's only workspace. */
export function createGameplanApi(
  options: ClientOptions,
  workspaceId: () => string | undefined,
): GameplanApi {
  const call = createCall(toPorts(options));
  const invoke = async (tool: string, args: JsonObject, key: string | null) => {
    const workspace = workspaceId();
    const body = { arguments: args, ...(workspace && { workspaceId: workspace }) };
    const path = { id: `gameplan__${tool}` };
    return readEnd(await call("POST /v1/tools/{id}/invoke", { path, body, key }));
  };
  const undoApi = createUndoApi(options);
  const findCall = async (runId: string, toolCallId: string) => {
    const calls = runId === "" ? [] : await undoApi.calls(runId);
    return calls?.find((candidate) => candidate.toolCallId === toolCallId);
  };
  return {
    async canUndo(runId, toolCallId) {
      return (await findCall(runId, toolCallId))?.undo?.status === "available";
    },
    async undo(id, toolCallId) {
      const found = await findCall(id, toolCallId);
      if (!found?.undo) return undefined;
      const path = { id, invocationId: found.invocationId };
      return readEnd(
        await call("POST /v1/runs/{id}/invocations/{invocationId}/compensate", { path }),
      );
    },
    async read(tool, args) {
      const end = await invoke(tool, args, null);
      if (!end.ok) return end;
      return end.value.kind === "done" ? ok(end.value.data) : fail(UNREADABLE);
    },
    write: invoke,
    async workspaces() {
      const answer = await call("GET /v1/workspaces");
      if (!answer.ok) return answer;
      const known = listOf(toObject(answer.value), "workspaces");
      const own = known.filter((workspace) => textOf(workspace, "name") === "gameplan");
      return ok(own.map((workspace) => textOf(workspace, "id")));
    },
  };
}

const UNREADABLE: CallFailure = {
  code: "unreadable",
  message: "The server sent an answer that this page cannot read. Reload the page.",
  needsToken: false,
};

/** Says a failure to the reader. */
export function inWords(failure: Failure): CallFailure {
  const { code, status } = failure;
  return { code, message: describeFailure(failure), needsToken: status === 401 };
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Reads the observation of a call that ended, or the run that waits; docs/http.md has both. */
function readEnd(answer: Result<unknown, Failure>): Result<WriteEnd, CallFailure> {
  if (!answer.ok) return fail(inWords(answer.failure));
  const body = toObject(answer.value);
  const runId = textOf(body, "runId");
  if (runId !== "" && !body["observation"]) return ok({ kind: "waiting", runId });
  const payload = objectOf(objectOf(body, "observation"), "result_payload");
  const result = objectOf(objectOf(payload, "data"), "result");
  if (result["success"] === true) return ok({ kind: "done", data: objectOf(result, "data") });
  const [error] = listOf(payload, "errors");
  if (!error) return fail(UNREADABLE);
  const message = textOf(error, "message") || "The call failed.";
  return fail({ code: textOf(error, "code"), message, needsToken: false });
}
