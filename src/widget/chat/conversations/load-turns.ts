import { say } from "../../texts/say.ts";
import { createCall } from "../../../client/call.ts";
import type { Failure } from "../../../client/failure.ts";
import { toPorts } from "../../../client/ports.ts";
import { describeFailure } from "../../describe-failure.ts";
import { isJsonObject, type JsonObject } from "../../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../../protocol/outcome/result.ts";
import type { ChatToolsPorts, LoadEnd, LoadKind } from "./chat-tools.ts";
import type { ExchangeList } from "../exchange/exchange-list.ts";
import { mergeTurns } from "./merge-turns.ts";
import { readTurn } from "./read-turn.ts";

interface Loading {
  readonly list: ExchangeList;
  readonly kind: LoadKind;
  readonly signal: AbortSignal;
}

/** Loads turns of the list's conversation, and its title. */
export async function loadTurns(ports: ChatToolsPorts, loading: Loading): Promise<LoadEnd> {
  const { list, kind, signal } = loading;
  const call = createCall(toPorts(ports.api));
  const request = { path: { id: list.conversationId ?? "" }, signal };
  const query = kind === "earlier" && list.earlier ? { cursor: list.earlier } : {};
  const messages = async () =>
    toObject(await call("GET /v1/conversations/{id}/messages", { ...request, query }));
  const early = kind === "news" ? undefined : messages();
  const state =
    kind === "earlier" ? undefined : toObject(await call("GET /v1/conversations/{id}", request));
  if (state && !state.ok) return state.failure;
  const isKnown = list.nodes.some(({ runId }) => runId === state?.value["headId"]);
  const page = kind === "news" && isKnown ? undefined : await (early ?? messages());
  if (page && !page.ok) return page.failure;
  if (signal.aborted) return { kind: "loaded", running: [] };
  const { title } = state?.value ?? {};
  if (typeof title === "string") list.title = title;
  if (!page) return { kind: "loaded", running: [] };
  const { turns, next } = page.value;
  const told = (Array.isArray(turns) ? turns : []).flatMap((turn) => readTurn(turn) ?? []);
  const meets = told.some(({ runId }) => list.nodes.some((node) => node.runId === runId));
  if (kind === "earlier" || !meets) list.earlier = typeof next === "string" ? next : undefined;
  // Between these turns and the loaded ones may be others.
  if (kind !== "earlier" && !meets)
    list.set(
      list.nodes.filter(({ runId }) => !runId),
      undefined,
    );
  return { kind: "loaded", running: mergeTurns(ports, { list, kind }, told.toReversed()) };
}

function toObject(answer: Result<unknown, Failure>): Result<JsonObject, LoadEnd> {
  if (!answer.ok) return fail(endOf(answer.failure));
  return ok(isJsonObject(answer.value) ? answer.value : {});
}

const UNKNOWN = "This chat does not exist, or it is not yours.";
const DELETED = "This chat was deleted.";

function endOf(failure: Failure): LoadEnd {
  const { status } = failure;
  if (status === 401) return { kind: "token_needed" };
  if (status === 404) return { kind: "gone", message: say(UNKNOWN) };
  if (status === 410) return { kind: "gone", message: say(DELETED) };
  return { kind: "failed", message: describeFailure(failure) };
}
