import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { CommandError } from "../command.ts";
import { readToldPage, readToldState } from "./told-run.ts";
import type { Send } from "../push/deployment-client.ts";

/** What a deployment tells of a run. */
export interface ToldRun {
  readonly state: RunState;
  /** Its audit records, oldest first. */
  readonly entries: readonly AuditEntry[];
}

/**
 * Reads a run and all of its audit records.
 * Fails: throws a CommandError with what the deployment answered, or what it answered wrongly.
 */
export async function readRun(send: Send, runId: string): Promise<ToldRun> {
  const id = encodeURIComponent(runId);
  const state = readToldState(await read(send, `/v1/runs/${id}`));
  const entries: AuditEntry[] = [];
  for (let next: string | undefined = ""; next !== undefined;) {
    const page = readToldPage(await read(send, `/v1/audit?run=${id}&limit=100${next}`));
    entries.push(...page.entries);
    const cursor = page.next;
    next = cursor === undefined ? undefined : `&cursor=${encodeURIComponent(cursor)}`;
  }
  return { state, entries };
}

async function read(send: Send, path: string): Promise<JsonObject> {
  const answer = await send({ method: "GET", path });
  if (answer.kind === "ok") return answer.body;
  if (answer.kind === "no_answer") throw new CommandError(`No answer: ${answer.reason}`);
  const { status, code, message } = answer.refusal;
  throw new CommandError(`${path.split("?")[0]}: ${status} ${code}. ${message}`);
}
