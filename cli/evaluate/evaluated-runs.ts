import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import { memberOf } from "../../src/protocol/json/pointer.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../src/protocol/outcome/result.ts";
import { verifyChain, type VerifyOptions } from "../audit/verify-chain.ts";

/** The texts of an export, by the names of their files. */
export interface RunExport {
  /** Lines of `GET /v1/audit?format=jsonl`. */
  readonly log: readonly string[];
  /** Answers of `GET /v1/runs/:id/trace`. */
  readonly traces: ReadonlyMap<string, string>;
  /** Answers of `POST /v1/runs/:id/replay`. */
  readonly replays: ReadonlyMap<string, string>;
  /** Answers of `GET /v1/tools/:id`. */
  readonly contracts: ReadonlyMap<string, string>;
}

/** What a trace says of a call, as far as a mode reads it. */
export interface EvaluatedCall {
  readonly invocationId: string;
  readonly name: string;
  readonly state: string;
  /** How often the tool was asked to act. */
  readonly dispatches: number;
  /** Absent while the call is open. */
  readonly outcome: string | undefined;
  readonly idempotencyKeyHash: string | undefined;
}

/** One run whose records are verified. */
export interface EvaluatedRun {
  readonly runId: string;
  /** Its audit records, oldest first. */
  readonly entries: readonly AuditEntry[];
  /** Its calls as the trace tells them. Absent: the export has no trace of the run. */
  readonly calls?: readonly EvaluatedCall[] | undefined;
  /** What its replay came to. Absent: the export has no replay of the run. */
  readonly replay?: string | undefined;
}

/** A verified export. */
export interface Evaluated {
  readonly runs: readonly EvaluatedRun[];
  /** Published contracts by `<id>@<version>`. */
  readonly contracts: ReadonlyMap<string, JsonObject>;
}

/** Why an export is refused. The message says what to do. */
export interface ExportRefusal {
  readonly code: "chain_broken" | "unreadable" | "record_not_in_log" | "trace_contradicts_log";
  readonly message: string;
}

/**
 * Verifies an export: the hash chain of the audit log, and that each trace has no record that the
 * log does not have, and no call that ended otherwise than its record says.
 * Threat: somebody changes an export, so that its runs look better than they were.
 * Contract: never throws for what an export may contain.
 */
export async function verifyExport(
  { log, traces, replays, contracts }: RunExport,
  options: VerifyOptions = {},
): Promise<Result<Evaluated, ExportRefusal>> {
  const verdict = await verifyChain(linesOf(log), options);
  if (verdict.kind === "broken") {
    const message = `audit.jsonl, line ${verdict.line}: ${verdict.why}. Export the log again.`;
    return fail({ code: "chain_broken", message });
  }
  const records = log.map((line) => JSON.parse(line) as JsonObject).filter(isRecord);
  const bySeq = new Map(records.map((record) => [record.seq, record]));
  const told = new Map<string, readonly EvaluatedCall[]>();
  for (const [file, text] of traces) {
    const read = readTrace(file, text, bySeq);
    if (!read.ok) return read;
    told.set(read.value.runId, read.value.calls);
  }
  const outcomes = readMembers(replays, "runId", "outcome");
  const runs = Map.groupBy(records, ({ entry }) => entry.runId ?? "");
  runs.delete("");
  return ok({
    runs: [...runs].map(([runId, own]) => {
      const entries = own.map(({ entry }) => entry);
      return { runId, entries, calls: told.get(runId), replay: outcomes.get(runId) };
    }),
    contracts: readContracts(contracts),
  });
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

function isRecord(line: JsonObject): line is JsonObject & AuditRecord {
  return "entry" in line;
}

/** A trace is evidence only as far as the log agrees with it. */
function readTrace(
  file: string,
  text: string,
  log: ReadonlyMap<number, JsonObject & AuditRecord>,
): Result<{ readonly runId: string; readonly calls: readonly EvaluatedCall[] }, ExportRefusal> {
  const trace = parse(text);
  const { runId, calls, records } = trace ?? {};
  const traced = Array.isArray(calls) ? calls.flatMap((call) => readCall(call) ?? []) : [];
  const isRead = Array.isArray(calls) && traced.length === calls.length;
  const isListed = Array.isArray(records) && records.every(isJsonObject);
  if (typeof runId !== "string" || !isRead || !isListed) {
    const message = `${file} is no answer of GET /v1/runs/:id/trace. Export the trace again.`;
    return fail({ code: "unreadable", message });
  }
  for (const record of records) {
    const known = log.get(Number(record["seq"]));
    if (!known || toCanonicalJson(known) !== toCanonicalJson(record)) {
      const seq = JSON.stringify(record["seq"]);
      const message = `${file}: record ${seq} is not in audit.jsonl as it stands here.`;
      return fail({ code: "record_not_in_log", message });
    }
  }
  const own = [...log.values()].map(({ entry }) => entry).filter((entry) => entry.runId === runId);
  const ended = Map.groupBy(own, ({ action }) => action);
  for (const call of traced) {
    const of = (ended.get("call.ended") ?? []).findLast(
      ({ invocationId }) => invocationId === call.invocationId,
    );
    // Refused calls of one kind share a record.
    const told = of ? [of] : (ended.get("calls.refused") ?? []);
    const isTold = told.some(
      ({ outcome, toolId }) => outcome === call.outcome && toolId === call.name,
    );
    if (!isTold && call.outcome !== undefined) {
      const message = `${file}: ${call.invocationId} ended otherwise than audit.jsonl says.`;
      return fail({ code: "trace_contradicts_log", message });
    }
  }
  return ok({ runId, calls: traced });
}

/** Threat: a changed trace. Undefined: the value is no call. */
function readCall(value: JsonValue): EvaluatedCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const { invocationId, name, state, dispatches, outcome, idempotencyKeyHash } = value;
  const texts = [invocationId, name, state, outcome ?? "", idempotencyKeyHash ?? ""];
  if (!texts.every((text) => typeof text === "string")) return undefined;
  if (typeof dispatches !== "number") return undefined;
  return {
    invocationId: textOf(invocationId),
    name: textOf(name),
    state: textOf(state),
    dispatches,
    outcome: outcome === undefined ? undefined : textOf(outcome),
    idempotencyKeyHash: idempotencyKeyHash === undefined ? undefined : textOf(idempotencyKeyHash),
  };
}

function readMembers(
  files: ReadonlyMap<string, string>,
  key: string,
  member: string,
): ReadonlyMap<string, string> {
  return new Map(
    [...files.values()].flatMap((text) => {
      const value = parse(text) ?? {};
      return [[textOf(value[key]), textOf(value[member] ?? value["reason"])] as const];
    }),
  );
}

function readContracts(files: ReadonlyMap<string, string>): ReadonlyMap<string, JsonObject> {
  const contracts = [...files.values()].flatMap((text) => memberOf(parse(text), "contract") ?? []);
  return new Map(
    contracts.filter(isJsonObject).map((contract) => {
      const { identity } = contract;
      const of = `${textOf(memberOf(identity, "name"))}@${textOf(memberOf(identity, "version"))}`;
      return [of, contract] as const;
    }),
  );
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
