import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { showCall, type ShownCall } from "../../src/protocol/run/direct-call.ts";
import { NO_FACTS, type StopReason } from "../../src/protocol/run/facts.ts";
import { ownerOf, type RunOwner } from "../../src/protocol/identity/viewer.ts";
import type { DeadlineSet, RunDeadline, StoredDeadlines } from "../deadlines.ts";
import { changedFields } from "../../src/run/changed-fields.ts";
import { replayLog, type LoggedState } from "./logged-state.ts";
import type { Outbox } from "./outbox.ts";
import { RunLog } from "./run-log.ts";
import type { RunProgress } from "../../src/run/progress.ts";
import { createRunTables, namesOf, RunTables } from "./run-tables.ts";
import { StoredFiles } from "./stored-files.ts";
import { StoredPrompt } from "./stored-prompt.ts";
import type {
  ClaimedRun,
  RunIdentity,
  RunIncarnations,
  StoredFacts,
} from "../../src/run/stored-run.ts";

const FIRST_INCARNATION: RunIncarnations = {
  epoch: 0,
  recoveries: 0,
  recoveredStep: 0,
  stop: null,
  isWaiting: false,
};

/**
 * The most that text of one UTF-16 code unit adds to a database: three bytes of UTF-8, in pages
 * that are half empty at worst.
 */
const MAX_BYTES_PER_CHAR = 6;
/** The most that new tables and started pages add. */
const MAX_MORE_BYTES = 64 * 1024;

/** What the claim of a run does not say. */
export interface RunBeginning {
  readonly createdMs: number;
  readonly deadlines?: DeadlineSet<RunDeadline>;
}

/** The row of a run and what its log came to, in memory. */
interface HeldRun {
  readonly identity: RunIdentity;
  readonly claimed: ClaimedRun | undefined;
  readonly incarnations: RunIncarnations;
  readonly tables: RunTables;
  /** What its log came to when the row was read. */
  readonly logged: LoggedState;
  readonly progress: RunProgress;
}

/**
 * The one row of a run, and its progress in the log.
 * Ownership: one per run object; the only writer of row 0 of the `log` table, but for the names of
 * tables. It holds the row in memory too, and changes the memory after the row: a failed write
 * leaves both as they were.
 */
export class RunStore implements StoredFacts {
  readonly #storage: DurableObjectStorage;
  /** Contract: used only once the run is claimed. */
  readonly log: RunLog;
  /** Contract: likewise. */
  readonly deadlines: StoredDeadlines<RunDeadline>;
  /** Undefined until the row is read. */
  #held: HeldRun | undefined;
  /** The last measurement, and what had been added until then. */
  #measured: { readonly bytes: number; readonly grownChars: number } | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.log = new RunLog(storage.sql);
    this.deadlines = deadlinesIn(storage.sql);
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  get #run(): HeldRun {
    this.#held ??= this.#read();
    return this.#held;
  }

  /** Creates the tables and the row, and stores the first deadlines with it. */
  claim(
    { messages, instructions = "", context, files = {}, window: _window, ...claimed }: RunClaim,
    { createdMs, deadlines = {} }: RunBeginning,
  ): void {
    createRunTables(this.#sql);
    this.log.beginEmpty();
    const { runId, model, requestHash, ...rest } = claimed;
    this.#sql.exec(
      `INSERT INTO log (seq, run_id, model, request_hash, claim, claimed_messages, created_ms,
         run_epoch, recoveries, recovered_step, is_waiting, tables, deadlines, delivered_seq)
       VALUES (0, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, '', ?, 0)`,
      runId,
      model,
      requestHash ?? null,
      JSON.stringify(rest),
      messages.length,
      createdMs,
      JSON.stringify(deadlines),
    );
    const owner = ownerOf(claimed.principal);
    const claimedMessages = messages.length;
    const identity = { runId, model, requestHash, owner, claimedMessages, createdMs };
    const tables = new RunTables(this.#sql, []);
    const logged = replayLog([], 0);
    const { progress } = logged;
    const incarnations = FIRST_INCARNATION;
    this.#held = { identity, claimed, incarnations, tables, logged, progress };
    const prompt = new StoredPrompt(this.#sql, tables);
    if (instructions !== "") prompt.put("instructions", instructions);
    if (context) prompt.put("request_context", context);
    const stored = new StoredFiles(this.#sql, tables);
    for (const [hash, content] of Object.entries(files)) stored.put(hash, content);
    this.log.batch(() => {
      for (const message of messages) this.log.put({ kind: "message", message });
    });
  }

  identity(): RunIdentity {
    return this.#run.identity;
  }

  /** The claim of the run without messages and prompt; undefined once the run has shrunk. */
  claimed(): ClaimedRun | undefined {
    return this.#run.claimed;
  }

  /** Names the tool of a run of one direct call, without the arguments. */
  call(): ShownCall | undefined {
    const { call } = this.#run.claimed ?? {};
    return call && showCall(call);
  }

  progress(): RunProgress {
    return this.#run.progress;
  }

  /** Stores the fields of the progress that changed. */
  saveProgress(progress: RunProgress): void {
    const held = this.#run;
    const changed = changedFields(held.progress, progress);
    if (Object.keys(changed).length > 0) this.log.put({ kind: "progress", changed });
    this.#held = { ...held, progress };
  }

  /** What the log came to when this incarnation began. */
  logged(): LoggedState {
    return this.#run.logged;
  }

  tables(): RunTables {
    return this.#run.tables;
  }

  incarnations(): RunIncarnations {
    return this.#run.incarnations;
  }

  saveIncarnations(incarnations: RunIncarnations): void {
    const held = this.#run;
    this.#sql.exec(
      `UPDATE log SET run_epoch = ?, recoveries = ?, recovered_step = ?, stop = ?, is_waiting = ?
       WHERE seq = 0`,
      incarnations.epoch,
      incarnations.recoveries,
      incarnations.recoveredStep,
      incarnations.stop,
      incarnations.isWaiting ? 1 : 0,
    );
    this.#held = { ...held, incarnations };
  }

  /** Stores that the notices up to a number were delivered. */
  saveDelivered(seq: number): void {
    this.#sql.exec("UPDATE log SET delivered_seq = ? WHERE seq = 0", seq);
  }

  /**
   * Everything that the run stores, as if nothing were compressed. Unit: bytes.
   * Threat: text that compresses well passes a limit, and then fills the memory of its reader.
   */
  storedBytes(): number {
    const bytes = this.#sql.databaseSize + this.log.savedBytes;
    this.#measured = { bytes, grownChars: this.#grownChars() };
    return bytes;
  }

  /**
   * Tells whether the run stores more than a limit. It measures only when what was added since the
   * last measurement may pass the limit: a measurement takes as long as a small write.
   */
  storesMoreThan(maxBytes: number): boolean {
    const { bytes, grownChars } = this.#measured ?? { bytes: Infinity, grownChars: 0 };
    const addedChars = this.#grownChars() - grownChars;
    const mostBytes = bytes + addedChars * MAX_BYTES_PER_CHAR + MAX_MORE_BYTES;
    return mostBytes > maxBytes && this.storedBytes() > maxBytes;
  }

  #grownChars(): number {
    return this.log.grownChars + this.#run.tables.grownChars;
  }

  /** Deletes all but the request hash, the end of the run, and notices that wait for delivery. */
  shrink(outbox: Outbox): void {
    const { identity, tables, progress } = this.#run;
    // The memory is read anew, whether the transaction succeeds or not.
    this.#held = undefined;
    this.#storage.transactionSync(() => {
      this.log.clear();
      tables.drop();
      const owner = JSON.stringify(identity.owner);
      this.#sql.exec("UPDATE log SET claim = NULL, owner = ? WHERE seq = 0", owner);
      const left = { ...progress, title: null, error: null, facts: NO_FACTS };
      this.log.put({ kind: "progress", changed: left });
      outbox.restore();
    });
  }

  #read(): HeldRun {
    const row = this.#sql.exec<RunRow>("SELECT * FROM log WHERE seq = 0").one();
    const logged = replayLog(this.log.entries(), row.delivered_seq);
    const tables = new RunTables(this.#sql, namesOf(row.tables));
    return { ...fromRow(row), tables, logged, progress: logged.progress };
  }
}

/** The deadlines of a run, in its row. */
function deadlinesIn(sql: SqlStorage): StoredDeadlines<RunDeadline> {
  return {
    read: () => {
      const { deadlines } = sql
        .exec<{ deadlines: string }>("SELECT deadlines FROM log WHERE seq = 0")
        .one();
      return JSON.parse(deadlines) as DeadlineSet<RunDeadline>;
    },
    write: (deadlines) =>
      void sql.exec("UPDATE log SET deadlines = ? WHERE seq = 0", JSON.stringify(deadlines)),
  };
}

function fromRow(row: RunRow): Pick<HeldRun, "identity" | "claimed" | "incarnations"> {
  const runId = row.run_id as RunId;
  const { model, request_hash: hash, claim, owner } = row;
  const rest = claim === null ? undefined : (JSON.parse(claim) as ClaimColumn);
  return {
    identity: {
      runId,
      model,
      requestHash: hash ?? undefined,
      owner: rest ? ownerOf(rest.principal) : (JSON.parse(owner ?? "") as RunOwner),
      claimedMessages: row.claimed_messages,
      createdMs: row.created_ms,
    },
    claimed: rest && { ...rest, runId, model, ...(hash !== null && { requestHash: hash }) },
    incarnations: {
      epoch: row.run_epoch,
      recoveries: row.recoveries,
      recoveredStep: row.recovered_step,
      stop: row.stop,
      isWaiting: row.is_waiting === 1,
    },
  };
}

/** What no other column says of the claim. */
type ClaimColumn = Omit<ClaimedRun, "runId" | "model" | "requestHash">;

type RunRow = {
  run_id: string;
  model: string;
  request_hash: string | null;
  /** JSON; null as long as the claim says whose the run is. */
  owner: string | null;
  /** JSON; null once the run has shrunk. */
  claim: string | null;
  claimed_messages: number;
  created_ms: number;
  run_epoch: number;
  recoveries: number;
  recovered_step: number;
  stop: StopReason | null;
  is_waiting: number;
  /** Names of the tables that the run created when it first used them. */
  tables: string;
  /** JSON. */
  deadlines: string;
  /** The last notice that the tenant's object confirmed. */
  delivered_seq: number;
};
