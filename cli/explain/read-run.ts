import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunTrace } from "../../src/protocol/run/trace.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { CommandError } from "../command.ts";
import { readToldPage, readToldTrace } from "./told-run.ts";
import { describeAnswer, type Send } from "../push/deployment-client.ts";

/** What a deployment tells of a run, `GET /v1/runs/:id/trace`. */
export interface ToldRun {
  readonly trace: RunTrace;
  /** Its audit records, oldest first. */
  readonly entries: readonly AuditEntry[];
}

/**
 * Reads what decided a run, and all of its audit records.
 * Fails: throws a CommandError with what the deployment answered, or what it answered wrongly.
 */
export async function readRun(send: Send, runId: string): Promise<ToldRun> {
  const path = `/v1/runs/${encodeURIComponent(runId)}/trace?limit=100`;
  const first = await read(send, path);
  const entries: AuditEntry[] = [];
  for (let answer = first; ;) {
    const page = readToldPage(answer);
    entries.push(...page.entries);
    if (page.next === undefined) return { trace: readToldTrace(first), entries };
    answer = await read(send, `${path}&cursor=${encodeURIComponent(page.next)}`);
  }
}

async function read(send: Send, path: string): Promise<JsonObject> {
  const answer = await send({ method: "GET", path });
  if (answer.kind === "ok") return answer.body;
  throw new CommandError(describeAnswer(path, answer));
}
