import { say } from "../texts/say.ts";
import type { AuditRecord } from "../../protocol/audit/chain.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunSummary } from "../../protocol/run/summary.ts";
import type { RunTrace } from "../../protocol/run/trace.ts";
import { type ApiOptions, sendAuthorised } from "../../client/send-authorised.ts";
import { readProblemText, UNREACHABLE } from "../api-request.ts";

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
  list(query: Readonly<Record<string, string>>): Answer<RunsPage>;
  trace(runId: string): Answer<ReadTrace>;
  /** Reads what the last days cost, the oldest first. */
  costs(): Answer<readonly DayCost[]>;
}

/** What the runs of one day cost, in units of each currency. */
export interface DayCost {
  readonly day: string;
  readonly cost: readonly { readonly currency: string; readonly amount: number }[];
}

/** Creates the client of the HTTP API. */
export function createRunsApi(options: ApiOptions): RunsApi {
  return {
    async list(query) {
      const answer = await request(options, `v1/runs?${new URLSearchParams(query).toString()}`);
      if (!answer.ok) return answer;
      const runs = listOf(answer.value["runs"]).filter(isSummary) as unknown as RunsPage["runs"];
      return ok({ runs, ...nextOf(answer.value) });
    },
    async costs() {
      const answer = await request(options, "v1/usage");
      if (!answer.ok) return answer;
      return ok(listOf(answer.value["days"]).flatMap(toDayCost).toReversed());
    },
    trace: (runId) => readTrace(options, `v1/runs/${encodeURIComponent(runId)}/trace?limit=100`),
  };
}

/** Reads the first page, which has all parts, and the records of the others. */
async function readTrace(options: ApiOptions, path: string): Answer<ReadTrace> {
  const first = await request(options, path);
  if (!first.ok) return first;
  if (!isTrace(first.value)) return fail({ message: UNREADABLE, needsToken: false });
  const records = [...recordsOf(first.value)];
  for (let { next } = nextOf(first.value); next !== undefined;) {
    const page = await request(options, `${path}&cursor=${encodeURIComponent(next)}`);
    if (!page.ok) return page;
    records.push(...recordsOf(page.value));
    ({ next } = nextOf(page.value));
  }
  return ok({ trace: first.value as unknown as RunTrace, records });
}

const UNREADABLE = "The server sent a run that this page cannot read. Reload the page.";

async function request(options: ApiOptions, path: string): Answer<JsonObject> {
  try {
    const response = await sendAuthorised(options, path, {});
    const body: unknown = await response.json().catch(() => undefined);
    const value = isJsonObject(body) ? body : {};
    if (response.ok) return ok(value);
    const message = readProblemText(value, response.status);
    return fail({ message, needsToken: response.status === 401 });
  } catch {
    return fail({ message: say(UNREACHABLE), needsToken: false });
  }
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
