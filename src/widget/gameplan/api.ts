import { say } from "../texts/say.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { type ApiOptions, sendAuthorised } from "../../client/send-authorised.ts";
import { postJson, readProblemText, UNREACHABLE } from "../api-request.ts";
import { wait } from "../../client/backoff.ts";
import { createUndoApi } from "../chat/undo/undo-api.ts";
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
  workspaces(): Promise<Result<readonly string[], CallFailure>>;
}

/** `workspaceId` undefined: the server chooses the reader's only workspace. */
export function createGameplanApi(
  options: ApiOptions,
  workspaceId: () => string | undefined,
): GameplanApi {
  const invoke = (tool: string, args: JsonObject, headers: Readonly<Record<string, string>>) => {
    const workspace = workspaceId();
    const body = { arguments: args, ...(workspace && { workspaceId: workspace }) };
    return request(options, `v1/tools/gameplan__${tool}/invoke`, postJson(body, headers));
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
    async undo(runId, toolCallId) {
      const call = await findCall(runId, toolCallId);
      if (!call?.undo) return undefined;
      const path = `v1/runs/${encodeURIComponent(runId)}/invocations/${call.invocationId}/compensate`;
      const answer = await request(options, path, { method: "POST" });
      return answer.ok ? readEnd(answer.value) : answer;
    },
    async read(tool, args) {
      const answer = await invoke(tool, args, {});
      const end = answer.ok ? readEnd(answer.value) : answer;
      if (!end.ok) return end;
      return end.value.kind === "done" ? ok(end.value.data) : fail(UNREADABLE);
    },
    async write(tool, args, key) {
      for (let attempt = 1; ; attempt += 1) {
        const answer = await invoke(tool, args, { "idempotency-key": key });
        if (answer.ok) return readEnd(answer.value);
        const isTransient = RETRIED.has(answer.failure.code);
        if (!isTransient || attempt >= MAX_SENDS) return answer;
        await wait(RETRY_MS * attempt, new AbortController().signal);
      }
    },
    async workspaces() {
      const answer = await request(options, "v1/workspaces", {});
      if (!answer.ok) return answer;
      const known = listOf(answer.value.body, "workspaces");
      const own = known.filter((workspace) => textOf(workspace, "name") === "gameplan");
      return ok(own.map((workspace) => textOf(workspace, "id")));
    },
  };
}

const MAX_SENDS = 4;
const RETRY_MS = 500;
/** A repeated write under one key happens once, so what is uncertain can be sent again. */
const RETRIED: ReadonlySet<string> = new Set(["unreachable", "request_in_progress"]);

const UNREADABLE: CallFailure = {
  code: "unreadable",
  message: "The server sent an answer that this page cannot read. Reload the page.",
  needsToken: false,
};

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

async function request(
  options: ApiOptions,
  path: string,
  init: RequestInit,
): Promise<Result<Answer, CallFailure>> {
  try {
    const response = await sendAuthorised(options, path, init);
    const parsed: unknown = await response.json().catch(() => undefined);
    const body = isJsonObject(parsed) ? parsed : {};
    if (response.ok) return ok({ status: response.status, body });
    const { status } = response;
    const code = textOf(body, "code") || String(status);
    const message = readProblemText(body, status);
    return fail({ code, message, needsToken: status === 401 });
  } catch {
    return fail({ code: "unreachable", message: say(UNREACHABLE), needsToken: false });
  }
}

/** Reads the observation of a call that ended; docs/http.md describes it. */
function readEnd({ status, body }: Answer): Result<WriteEnd, CallFailure> {
  if (status === 202) return ok({ kind: "waiting", runId: textOf(body, "runId") });
  const payload = objectOf(objectOf(body, "observation"), "result_payload");
  const result = objectOf(objectOf(payload, "data"), "result");
  if (result["success"] === true) return ok({ kind: "done", data: objectOf(result, "data") });
  const [error] = listOf(payload, "errors");
  if (!error) return fail(UNREADABLE);
  const message = textOf(error, "message") || "The call failed.";
  return fail({ code: textOf(error, "code"), message, needsToken: false });
}
