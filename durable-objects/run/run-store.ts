import type { DoneReason, RunError } from "../../src/protocol/ai-event.ts";
import type { RunId, ToolCallId } from "../../src/protocol/ids.ts";
import type { ObservationObject } from "../../src/protocol/observation.ts";
import type { RunClaim } from "../../src/protocol/run-claim.ts";
import type { ResponseVector } from "../../src/protocol/response-vector.ts";
import { statusOf, type RunState, type ToolCallSummary } from "../../src/protocol/run-state.ts";
import type { ToolInvocationRecord } from "../../src/protocol/tool-invocation.ts";
import type { TranscriptMessage } from "../../src/protocol/transcript-message.ts";
import { NO_USAGE, type Usage } from "../../src/protocol/usage.ts";
import { isHighSurrogate } from "../../src/protocol/utf16.ts";

/** Longest text of one row. Production refuses 2 MB, the local platform does not; one unit takes 3 bytes at most. */
const MAX_ROW_CHARS = 600_000;

/** How far a run came, and how it ended. */
export interface RunProgress {
  readonly epoch: number;
  readonly steps: number;
  readonly usage: Usage;
  readonly title: string | null;
  readonly reason: DoneReason | null;
  readonly error: RunError | null;
  readonly endedMs: number | null;
}

/** Where every run begins. */
export const NEW_RUN: RunProgress = {
  epoch: 0,
  steps: 0,
  usage: NO_USAGE,
  title: null,
  reason: null,
  error: null,
  endedMs: null,
};

/**
 * A run's tables besides its events: what was claimed, how far it came, the conversation, and the
 * invocations with their raw arguments.
 * Contract: tables exist only once the run is claimed, so a look at an unknown run writes nothing.
 */
export class RunStore {
  readonly #storage: DurableObjectStorage;
  #messageCount = 0;
  #invocationCount = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    if (!this.isClaimed()) return;
    this.#messageCount = this.#count("messages");
    this.#invocationCount = this.#count("invocations");
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
           claim TEXT NOT NULL, epoch INTEGER NOT NULL, steps INTEGER NOT NULL,
           usage TEXT NOT NULL, title TEXT, reason TEXT, error TEXT,
           claimed_messages INTEGER NOT NULL, created_ms INTEGER NOT NULL, ended_ms INTEGER
         );
         CREATE TABLE messages (
           seq INTEGER NOT NULL, part INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (seq, part)
         ) WITHOUT ROWID;
         CREATE TABLE invocations (
           seq INTEGER PRIMARY KEY, tool_call_id TEXT NOT NULL, name TEXT NOT NULL,
           step INTEGER NOT NULL, arguments_text TEXT NOT NULL, args TEXT, error_code TEXT,
           observation TEXT NOT NULL, response TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL
         );
         CREATE TABLE inbox (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
         CREATE TABLE events (
           first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, epoch INTEGER NOT NULL,
           body TEXT NOT NULL
         );`,
      );
      this.sql.exec(
        `INSERT INTO run (id, run_id, model, claim, epoch, steps, usage, claimed_messages,
           created_ms) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)`,
        run.runId,
        run.model,
        JSON.stringify(run),
        NEW_RUN.epoch,
        NEW_RUN.steps,
        JSON.stringify(NEW_RUN.usage),
        messages.length,
        createdMs,
      );
      for (const message of messages) this.addMessage(message);
    });
  }

  get runId(): RunId {
    return this.#run().run_id as RunId;
  }

  /** Hash of the body that started the run, if it came under a key. */
  get requestHash(): string | undefined {
    return (JSON.parse(this.#run().claim) as RunClaim).requestHash;
  }

  progress(): RunProgress {
    const { epoch, steps, usage, title, reason, error, ended_ms } = this.#run();
    return {
      epoch,
      steps,
      usage: JSON.parse(usage) as Usage,
      title,
      reason,
      error: error === null ? null : (JSON.parse(error) as RunError),
      endedMs: ended_ms,
    };
  }

  saveProgress(progress: RunProgress): void {
    this.sql.exec(
      "UPDATE run SET epoch = ?, steps = ?, usage = ?, title = ?, reason = ?, error = ?, ended_ms = ?",
      progress.epoch,
      progress.steps,
      JSON.stringify(progress.usage),
      progress.title,
      progress.reason,
      progress.error && JSON.stringify(progress.error),
      progress.endedMs,
    );
  }

  /** Adds a message of the conversation, in as many rows as its length takes. */
  addMessage(message: TranscriptMessage): void {
    const seq = ++this.#messageCount;
    for (const [part, body] of splitText(JSON.stringify(message)).entries()) {
      this.sql.exec("INSERT INTO messages (seq, part, body) VALUES (?, ?, ?)", seq, part, body);
    }
  }

  /** Unit: bytes of the conversation as stored. */
  transcriptBytes(): number {
    return this.sql
      .exec<{ bytes: number }>("SELECT coalesce(sum(octet_length(body)), 0) AS bytes FROM messages")
      .one().bytes;
  }

  transcript(): readonly TranscriptMessage[] {
    const texts: string[] = [];
    const rows = this.sql.exec<{ part: number; body: string }>(
      "SELECT part, body FROM messages ORDER BY seq, part",
    );
    for (const { part, body } of rows) {
      if (part === 0) texts.push(body);
      else texts.push(`${texts.pop() ?? ""}${body}`);
    }
    return texts.map((text) => JSON.parse(text) as TranscriptMessage);
  }

  /** Messages of people that a conversation got while the run went. */
  countSaid(transcript: readonly TranscriptMessage[]): number {
    const grown = transcript.slice(this.#run().claimed_messages);
    return grown.filter(({ role }) => role === "user").length;
  }

  addInvocation(invocation: ToolInvocationRecord): void {
    const { toolCallId, name, step, argumentsText, args, errorCode, observation } = invocation;
    this.sql.exec(
      `INSERT INTO invocations (seq, tool_call_id, name, step, arguments_text, args, error_code,
         observation, response, started_ms, ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ++this.#invocationCount,
      toolCallId,
      name,
      step,
      argumentsText,
      args ? JSON.stringify(args) : null,
      errorCode ?? null,
      JSON.stringify(observation),
      JSON.stringify(invocation.response),
      invocation.startedAtMs,
      invocation.endedAtMs,
    );
  }

  state(): RunState {
    const { run_id, model, created_ms } = this.#run();
    const { reason, error, title, steps, usage, endedMs } = this.progress();
    return {
      runId: run_id as RunId,
      status: reason === null ? "running" : statusOf(reason),
      ...(reason !== null && { reason }),
      ...(error !== null && { error }),
      ...(title !== null && { title }),
      model,
      steps,
      toolCalls: this.#toolCalls(),
      usage,
      timestamps: {
        createdAt: toIso(created_ms),
        ...(endedMs !== null && { endedAt: toIso(endedMs) }),
      },
    };
  }

  #toolCalls(): RunState["toolCalls"] {
    return this.sql
      .exec<InvocationRow>(
        "SELECT tool_call_id, name, step, observation, response, started_ms, ended_ms FROM invocations ORDER BY seq",
      )
      .toArray()
      .map(toSummary);
  }

  #run(): RunRow {
    return this.sql.exec<RunRow>("SELECT * FROM run").one();
  }

  #count(table: "messages" | "invocations"): number {
    return this.sql
      .exec<{ count: number }>(`SELECT coalesce(max(seq), 0) AS count FROM ${table}`)
      .one().count;
  }
}

type RunRow = {
  run_id: string;
  model: string;
  claim: string;
  epoch: number;
  steps: number;
  usage: string;
  title: string | null;
  reason: DoneReason | null;
  error: string | null;
  claimed_messages: number;
  created_ms: number;
  ended_ms: number | null;
};

type InvocationRow = {
  tool_call_id: string;
  name: string;
  step: number;
  observation: string;
  response: string;
  started_ms: number;
  ended_ms: number;
};

function toSummary(row: InvocationRow): ToolCallSummary {
  const observation = JSON.parse(row.observation) as ObservationObject;
  const { next_action: nextAction } = JSON.parse(row.response) as ResponseVector;
  return {
    toolCallId: row.tool_call_id as ToolCallId,
    name: row.name,
    version: observation.tool_identity.version,
    step: row.step,
    outcome: observation.status.taxonomy_class,
    nextAction,
    attempts: observation.execution_metadata.attempt_number,
    startedAt: toIso(row.started_ms),
    endedAt: toIso(row.ended_ms),
  };
}

/** Cuts text into pieces of one row each, never within a character. */
function splitText(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_ROW_CHARS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function toIso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
