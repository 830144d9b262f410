import type { DoneReason, RunError } from "../../src/protocol/ai-event.ts";
import type { RunId, ToolCallId } from "../../src/protocol/ids.ts";
import type { ObservationObject } from "../../src/protocol/observation.ts";
import type { RunClaim } from "../../src/protocol/run-claim.ts";
import { statusOf, type RunState } from "../../src/protocol/run-state.ts";
import type { ToolInvocationRecord } from "../../src/protocol/tool-invocation.ts";
import type { TranscriptMessage } from "../../src/protocol/transcript-message.ts";
import { addUsage, type Usage } from "../../src/protocol/usage.ts";
import { EventLog } from "./event-log.ts";

/** Largest value of one row; production refuses 2 MB and the local platform does not. */
const MAX_ROW_BYTES = 2_000_000;

/**
 * A run's tables besides its events: what was claimed, how far it came, the conversation, and the
 * invocations with their raw arguments.
 * Contract: tables exist only once the run is claimed, so a look at an unknown run writes nothing.
 */
export class RunStore {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get sql(): SqlStorage {
    return this.#storage.sql;
  }

  isClaimed(): boolean {
    const [table] = this.sql
      .exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'run'")
      .toArray();
    return table !== undefined;
  }

  /** Creates the tables and stores the claim, all or nothing. */
  claim({ messages, ...run }: RunClaim, createdMs: number): void {
    this.#storage.transactionSync(() => {
      this.sql.exec(
        `CREATE TABLE run (
           id INTEGER PRIMARY KEY CHECK (id = 1), run_id TEXT NOT NULL, model TEXT NOT NULL,
           claim TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0,
           usage TEXT NOT NULL, title TEXT, reason TEXT, error TEXT,
           created_ms INTEGER NOT NULL, ended_ms INTEGER
         )`,
      );
      this.sql.exec("CREATE TABLE messages (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)");
      this.sql.exec(
        `CREATE TABLE invocations (
           seq INTEGER PRIMARY KEY, tool_call_id TEXT NOT NULL, name TEXT NOT NULL,
           step INTEGER NOT NULL, arguments_text TEXT NOT NULL, args TEXT, error_code TEXT,
           observation TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL
         )`,
      );
      EventLog.createTable(this.sql);
      this.sql.exec(
        "INSERT INTO run (id, run_id, model, claim, usage, created_ms) VALUES (1, ?, ?, ?, ?, ?)",
        run.runId,
        run.model,
        JSON.stringify(run),
        JSON.stringify({ inputTokens: 0, outputTokens: 0 } satisfies Usage),
        createdMs,
      );
      for (const message of messages) this.remember(message);
    });
  }

  get runId(): RunId {
    return this.#run().run_id as RunId;
  }

  get epoch(): number {
    return this.#run().epoch;
  }

  get hasEnded(): boolean {
    return this.#run().reason !== null;
  }

  /** Opens the next recovery epoch and answers it. */
  beginEpoch(): number {
    this.sql.exec("UPDATE run SET epoch = epoch + 1");
    return this.epoch;
  }

  remember(message: TranscriptMessage): void {
    const seq = this.#nextSeq("messages");
    this.sql.exec("INSERT INTO messages (seq, body) VALUES (?, ?)", seq, toRow(message));
  }

  transcript(): readonly TranscriptMessage[] {
    return this.sql
      .exec<{ body: string }>("SELECT body FROM messages ORDER BY seq")
      .toArray()
      .map(({ body }) => JSON.parse(body) as TranscriptMessage);
  }

  record(invocation: ToolInvocationRecord): void {
    const { toolCallId, name, step, argumentsText, args, errorCode, observation } = invocation;
    this.sql.exec(
      `INSERT INTO invocations (seq, tool_call_id, name, step, arguments_text, args, error_code,
         observation, started_ms, ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      this.#nextSeq("invocations"),
      toolCallId,
      name,
      step,
      argumentsText,
      args ? JSON.stringify(args) : null,
      errorCode ?? null,
      toRow(observation),
      invocation.startedAtMs,
      invocation.endedAtMs,
    );
  }

  noteStep(step: number): void {
    this.sql.exec("UPDATE run SET steps = ?", step);
  }

  noteUsage(usage: Usage): void {
    const total = addUsage(JSON.parse(this.#run().usage) as Usage, usage);
    this.sql.exec("UPDATE run SET usage = ?", JSON.stringify(total));
  }

  noteTitle(title: string): void {
    this.sql.exec("UPDATE run SET title = ?", title);
  }

  noteEnd(reason: DoneReason, error: RunError | undefined, endedMs: number): void {
    this.sql.exec(
      "UPDATE run SET reason = ?, error = ?, ended_ms = ?",
      reason,
      error ? JSON.stringify(error) : null,
      endedMs,
    );
  }

  state(): RunState {
    const run = this.#run();
    return {
      runId: run.run_id as RunId,
      status: run.reason === null ? "running" : statusOf(run.reason),
      ...(run.reason !== null && { reason: run.reason }),
      ...(run.error !== null && { error: JSON.parse(run.error) as RunError }),
      ...(run.title !== null && { title: run.title }),
      model: run.model,
      steps: run.steps,
      toolCalls: this.#toolCalls(),
      usage: JSON.parse(run.usage) as Usage,
      timestamps: {
        createdAt: toIso(run.created_ms),
        ...(run.ended_ms !== null && { endedAt: toIso(run.ended_ms) }),
      },
    };
  }

  #toolCalls(): RunState["toolCalls"] {
    return this.sql
      .exec<InvocationRow>(
        "SELECT tool_call_id, name, step, observation, started_ms, ended_ms FROM invocations ORDER BY seq",
      )
      .toArray()
      .map((row) => ({
        toolCallId: row.tool_call_id as ToolCallId,
        name: row.name,
        step: row.step,
        outcome: (JSON.parse(row.observation) as ObservationObject).status.taxonomy_class,
        startedAt: toIso(row.started_ms),
        endedAt: toIso(row.ended_ms),
      }));
  }

  #run(): RunRow {
    return this.sql.exec<RunRow>("SELECT * FROM run").one();
  }

  #nextSeq(table: "messages" | "invocations"): number {
    return this.sql
      .exec<{ seq: number }>(`SELECT coalesce(max(seq), 0) + 1 AS seq FROM ${table}`)
      .one().seq;
  }
}

type RunRow = {
  run_id: string;
  model: string;
  epoch: number;
  steps: number;
  usage: string;
  title: string | null;
  reason: DoneReason | null;
  error: string | null;
  created_ms: number;
  ended_ms: number | null;
};

type InvocationRow = {
  tool_call_id: string;
  name: string;
  step: number;
  observation: string;
  started_ms: number;
  ended_ms: number;
};

function toRow(value: object): string {
  const text = JSON.stringify(value);
  if (text.length * 3 > MAX_ROW_BYTES && new TextEncoder().encode(text).length > MAX_ROW_BYTES) {
    throw new RangeError("a row would pass the platform's limit");
  }
  return text;
}

function toIso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
