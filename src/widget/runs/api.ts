import type { AuditRecord } from "../../protocol/audit/chain.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunSummary } from "../../protocol/run/summary.ts";
import type { RunTrace } from "../../protocol/run/trace.ts";
import { createCall, type Call, type QueryOf } from "../../client/call.ts";
import type { Failure } from "../../client/failure.ts";
import { type ClientOptions, toPorts } from "../../client/ports.ts";
import { describeFailure } from "../describe-failure.ts";

/** Why a request failed. `message` is for the reader. */
export interface RunsFailure {
  readonly message: string;
  /** True when the server rejected the token. */
  readonly needsToken: boolean;
}

/** One page of the list. */
export interface RunsPage {
  readonly runs: readonly RunSummary[];
  readonly next?: string;
}

/** What decided a run, with all of its audit records. */
export interface ReadTrace {
  readonly trace: RunTrace;
  readonly records: readonly AuditRecord[];
}

type Answer<T> = Promise<Result<T, RunsFailure>>;

/** The part of the public API that the page of runs needs. Contract: no method throws. */
export interface RunsApi {
  list(query: QueryOf<"GET /v1/runs">): Answer<RunsPage>;
  trace(runId: string): Answer<ReadTrace>;
  /** Reads what the last days cost, the oldest first. */
  costs(): Answer<readonly DayCost[]>;
}

/** What the runs of one day cost, in units of each currency. */
export interface DayCost {
  readonly day: string;
  readonly cost: readonly { readonly currency: string; readonly amount: number }[];
}

/** Creates what the page of runs needs on the typed client. */
export function createRunsApi(options: ClientOptions): RunsApi {
  const call = createCall(toPorts(options));
  return {
    async list(query) {
      const answer = inWords(await call("GET /v1/runs", { query }));
      if (!answer.ok) return answer;
      const runs = listOf(answer.value["runs"]).filter(isSummary) as unknown as RunsPage["runs"];
      return ok({ runs, ...nextOf(answer.value) });
    },
    async costs() {
      const answer = inWords(await call("GET /v1/usage"));
      if (!answer.ok) return answer;
      return ok(listOf(answer.value["days"]).flatMap(toDayCost).toReversed());
    },
    trace: (runId) => readTrace(call, runId),
  };
}

/** Reads the first page, which has all parts, and the records of the others. */
async function readTrace(call: Call, id: string): Answer<ReadTrace> {
  const read = async (query: QueryOf<"GET /v1/runs/{id}/trace">) =>
    inWords(await call("GET /v1/runs/{id}/trace", { path: { id }, query }));
  const first = await read({ limit: 100 });
  if (!first.ok) return first;
  if (!isTrace(first.value)) return fail({ message: UNREADABLE, needsToken: false });
  const records = [...recordsOf(first.value)];
  for (let { next } = nextOf(first.value); next !== undefined;) {
    const page = await read({ limit: 100, cursor: next });
    if (!page.ok) return page;
    records.push(...recordsOf(page.value));
    ({ next } = nextOf(page.value));
  }
  return ok({ trace: first.value as unknown as RunTrace, records });
}

const UNREADABLE = "The server sent a run that this page cannot read. Reload the page.";

function inWords(answer: Result<unknown, Failure>): Result<JsonObject, RunsFailure> {
  if (answer.ok) return ok(isJsonObject(answer.value) ? answer.value : {});
  const { failure } = answer;
  return fail({ message: describeFailure(failure), needsToken: failure.status === 401 });
}

function toDayCost(value: JsonValue): readonly DayCost[] {
  if (!isJsonObject(value) || typeof value["day"] !== "string") return [];
  const cost = listOf(value["cost"]).flatMap((one) => {
    const { currency, amount } = isJsonObject(one) ? one : {};
    return typeof currency === "string" && typeof amount === "number" ? [{ currency, amount }] : [];
  });
  return [{ day: value["day"], cost }];
}

function isSummary(value: JsonValue): boolean {
  return (
    isJsonObject(value) && ["runId", "status", "createdAt"].every((name) => isText(value[name]))
  );
}

function isTrace(value: JsonObject): boolean {
  const { run, claim, pins, spending, incarnations, notices } = value;
  const { timestamps } = isJsonObject(run) ? run : {};
  return (
    [claim, pins, spending, incarnations, notices, timestamps].every(isJsonObject) &&
    ["steps", "calls", "approvals", "records"].every((name) =>
      listOf(value[name] ?? null).every(isJsonObject),
    )
  );
}

function recordsOf({ records }: JsonObject): readonly AuditRecord[] {
  const known = listOf(records).filter((one) => isJsonObject(one) && isJsonObject(one["entry"]));
  return known as unknown as readonly AuditRecord[];
}

function nextOf({ next }: JsonObject): { readonly next?: string } {
  return typeof next === "string" && next !== "" ? { next } : {};
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === "string";
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
