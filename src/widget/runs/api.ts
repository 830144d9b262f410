import type { AuditRecord } from "../../protocol/audit/chain.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunSummary } from "../../protocol/run/summary.ts";
import type { RunTrace } from "../../protocol/run/trace.ts";
import { type BodyOf, createCall, type Call, type QueryOf } from "../../client/call.ts";
import type { Failure } from "../../client/failure.ts";
import { type ClientOptions, toPorts } from "../../client/ports.ts";
import { describeFailure } from "../describe-failure.ts";
import { say } from "../texts/say.ts";
import { listOf } from "./list-of.ts";
import { type CurrentPolicy, type PolicyTrial, readPolicy, readTrial } from "./policy-trial.ts";
import { type Costs, readCosts } from "./read-costs.ts";

/** Why a request failed. `message` is for the reader. */
export interface RunsFailure {
  readonly message: string;
  /** True when the server rejected the token. */
  readonly needsToken: boolean;
  readonly code?: Failure["code"];
  /** What is wrong in the body, with its place. */
  readonly errors?: readonly string[];
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
  /** Reads what the last days cost. */
  costs(): Answer<Costs>;
  /** Reads the current policy of the tenant. */
  policy(): Answer<CurrentPolicy>;
  /** Tells what a policy would have decided about the last calls. */
  tryPolicy(policy: JsonObject): Answer<PolicyTrial>;
  /** Tells why no policy can be tried; undefined where one can. Decides nothing. */
  whyNoTrial(): Promise<RunsFailure | undefined>;
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
      return ok(readCosts(answer.value));
    },
    async policy() {
      const answer = inWords(await call("GET /v1/policy"));
      if (!answer.ok) return answer;
      const policy = readPolicy(answer.value);
      return policy ? ok(policy) : failUnreadable();
    },
    async tryPolicy(policy) {
      const answer = await tryOut(call, { policy });
      if (!answer.ok) return answer;
      const trial = readTrial(answer.value);
      return trial ? ok(trial) : failUnreadable();
    },
    async whyNoTrial() {
      const answer = await tryOut(call, {});
      // Where a policy can be tried, the body without one is refused.
      return answer.ok || answer.failure.code === "invalid_request" ? undefined : answer.failure;
    },
    trace: (runId) => readTrace(call, runId),
  };
}

/** The server says what is wrong in a body that its reader wrote. */
async function tryOut(call: Call, body: JsonObject): Answer<JsonObject> {
  const written = body as unknown as BodyOf<"POST /v1/policy/dry-run">;
  return inWords(await call("POST /v1/policy/dry-run", { body: written }));
}

/** Reads the first page, which has all parts, and the records of the others. */
async function readTrace(call: Call, id: string): Answer<ReadTrace> {
  const read = async (query: QueryOf<"GET /v1/runs/{id}/trace">) =>
    inWords(await call("GET /v1/runs/{id}/trace", { path: { id }, query }));
  const first = await read({ limit: 100 });
  if (!first.ok) return first;
  if (!isTrace(first.value)) return failUnreadable();
  const records = [...recordsOf(first.value)];
  for (let { next } = nextOf(first.value); next !== undefined;) {
    const page = await read({ limit: 100, cursor: next });
    if (!page.ok) return page;
    records.push(...recordsOf(page.value));
    ({ next } = nextOf(page.value));
  }
  return ok({ trace: first.value as unknown as RunTrace, records });
}

function failUnreadable(): Result<never, RunsFailure> {
  const message = say("The server sent what this page cannot read. Reload the page.");
  return fail({ message, needsToken: false });
}

function inWords(answer: Result<unknown, Failure>): Result<JsonObject, RunsFailure> {
  if (answer.ok) return ok(isJsonObject(answer.value) ? answer.value : {});
  const { failure } = answer;
  const { code, problem, status } = failure;
  const errors = listOf(isJsonObject(problem) ? problem["errors"] : undefined);
  return fail({
    message: describeFailure(failure),
    needsToken: status === 401,
    code,
    errors: errors.flatMap(toError),
  });
}

function toError(value: JsonValue): readonly string[] {
  if (!isJsonObject(value)) return [];
  const { pointer, message } = value;
  return typeof pointer === "string" && typeof message === "string"
    ? [`${pointer}: ${message}`]
    : [];
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
