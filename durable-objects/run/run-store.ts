import type { DoneReason, RunError } from "../../src/protocol/run/event.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { NO_FACTS, type RunFacts, type StopReason } from "../../src/protocol/run/facts.ts";
import { NO_USAGE, type Usage } from "../../src/protocol/model/usage.ts";
import { ownerOf, type RunOwner } from "../../src/protocol/identity/viewer.ts";
import { StoredPrompt } from "./stored-prompt.ts";
import { createRunTables } from "./run-tables.ts";

/** Progress of a run, and how the run ended. */
export interface RunProgress {
  readonly steps: number;
  readonly usage: Usage;
  readonly facts: RunFacts;
  readonly title: string | null;
  readonly reason: DoneReason | null;
  readonly error: RunError | null;
  readonly endedMs: number | null;
}

/** Progress of a new run. The first model call counts already, so it needs no separate write. */
export const NEW_RUN: RunProgress = {
  steps: 0,
  usage: NO_USAGE,
  facts: { ...NO_FACTS, modelCalls: 1 },
  title: null,
  reason: null,
  error: null,
  endedMs: null,
};

/** What a run knows about the incarnations of its object. */
export interface RunIncarnations {
  /** Grows by one with each interruption. */
  readonly epoch: number;
  /** Recoveries since a step was finished. */
  readonly recoveries: number;
  /** Finished steps at the last recovery. */
  readonly recoveredStep: number;
  /** Why the run must stop, in this incarnation or a later one; null when it need not stop. */
  readonly stop: StopReason | null;
  /** The run waits for a person, and no loop is running. */
  readonly isWaiting: boolean;
}

const FIRST_INCARNATION: RunIncarnations = {
  epoch: 0,
  recoveries: 0,
  recoveredStep: 0,
  stop: null,
  isWaiting: false,
};

/** Facts of a run that never change until the run is deleted. */
export interface RunIdentity {
  readonly runId: RunId;
  readonly model: string;
  /** Hash of the request body; undefined when the request had no idempotency key. */
  readonly requestHash: string | undefined;
  readonly owner: RunOwner;
  readonly claimedMessages: number;
  readonly createdMs: number;
}

/** The row of a run, in memory. */
interface HeldRun {
  readonly identity: RunIdentity;
  readonly claimed: ClaimRow | undefined;
  readonly progress: RunProgress;
  readonly incarnations: RunIncarnations;
}

/**
 * The one row of a run: its claim, its progress and its incarnations.
 * Ownership: one per run object; the only writer of the `run` table. It holds the row in memory
 * too, and changes the memory after the row: a failed write leaves both as they were.
 */
export class RunStore {
  readonly #storage: DurableObjectStorage;
  /** Undefined until the row is read. */
  #held: HeldRun | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  get #run(): HeldRun {
    this.#held ??= fromRow(this.#sql.exec<RunRow>("SELECT * FROM run").one());
    return this.#held;
  }

  /** Creates the tables and the row. */
  claim({ messages, instructions = "", context, ...run }: RunClaim, createdMs: number): void {
    createRunTables(this.#sql, createdMs);
    const owner = ownerOf(run.principal);
    this.#sql.exec(
      `INSERT INTO run (id, run_id, model, request_hash, owner, claim, claimed_messages, created_ms, steps,
         usage, facts, epoch, recoveries, recovered_step, is_waiting)
       VALUES (1, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0, 0, 0, 0)`,
      run.runId,
      run.model,
      run.requestHash ?? null,
      JSON.stringify(owner),
      JSON.stringify(run),
      messages.length,
      createdMs,
      JSON.stringify(NEW_RUN.usage),
      JSON.stringify(toStored(NEW_RUN.facts)),
    );
    const prompt = new StoredPrompt(this.#sql);
    if (instructions !== "") prompt.put("instructions", instructions);
    if (context) prompt.put("request_context", context);
    const { runId, model, requestHash } = run;
    const claimedMessages = messages.length;
    const identity = { runId, model, requestHash, owner, claimedMessages, createdMs };
    const incarnations = FIRST_INCARNATION;
    this.#held = { identity, claimed: run, progress: NEW_RUN, incarnations };
  }

  identity(): RunIdentity {
    return this.#run.identity;
  }

  /** The claim of the run without messages and prompt; undefined once the run has shrunk. */
  claimed(): ClaimRow | undefined {
    return this.#run.claimed;
  }

  progress(): RunProgress {
    return this.#run.progress;
  }

  saveProgress(progress: RunProgress): void {
    const held = this.#run;
    this.#sql.exec(
      "UPDATE run SET steps = ?, usage = ?, facts = ?, title = ?, reason = ?, error = ?, ended_ms = ?",
      progress.steps,
      JSON.stringify(progress.usage),
      JSON.stringify(toStored(progress.facts)),
      progress.title,
      progress.reason,
      progress.error && JSON.stringify(progress.error),
      progress.endedMs,
    );
    this.#held = { ...held, progress };
  }

  incarnations(): RunIncarnations {
    return this.#run.incarnations;
  }

  saveIncarnations(incarnations: RunIncarnations): void {
    const held = this.#run;
    this.#sql.exec(
      "UPDATE run SET epoch = ?, recoveries = ?, recovered_step = ?, stop = ?, is_waiting = ?",
      incarnations.epoch,
      incarnations.recoveries,
      incarnations.recoveredStep,
      incarnations.stop,
      incarnations.isWaiting ? 1 : 0,
    );
    this.#held = { ...held, incarnations };
  }

  /** Everything that the run stores. Unit: bytes, in whole pages. */
  storedBytes(): number {
    return this.#sql.databaseSize;
  }

  /** Deletes all but the request hash, the end of the run, and notices that wait for delivery. */
  shrink(): void {
    this.#storage.transactionSync(() => {
      for (const table of ["messages", "invocations", "approvals", "inbox", "events"]) {
        this.#sql.exec(`DELETE FROM ${table}`);
      }
      this.#sql.exec("DELETE FROM outbox WHERE body IS NULL");
      this.#sql.exec("DROP TABLE IF EXISTS refusals");
      this.#sql.exec("DROP TABLE IF EXISTS prompt");
      this.#sql.exec("UPDATE run SET claim = NULL, title = NULL, error = NULL, facts = '{}'");
    });
    this.#held = undefined;
  }
}

function fromRow(row: RunRow): HeldRun {
  return {
    identity: {
      runId: row.run_id as RunId,
      model: row.model,
      requestHash: row.request_hash ?? undefined,
      owner: JSON.parse(row.owner) as RunOwner,
      claimedMessages: row.claimed_messages,
      createdMs: row.created_ms,
    },
    claimed: row.claim === null ? undefined : (JSON.parse(row.claim) as ClaimRow),
    progress: {
      steps: row.steps,
      usage: JSON.parse(row.usage) as Usage,
      facts: fromStored(JSON.parse(row.facts) as StoredFacts),
      title: row.title,
      reason: row.reason,
      error: row.error === null ? null : (JSON.parse(row.error) as RunError),
      endedMs: row.ended_ms,
    },
    incarnations: {
      epoch: row.epoch,
      recoveries: row.recoveries,
      recoveredStep: row.recovered_step,
      stop: row.stop,
      isWaiting: row.is_waiting === 1,
    },
  };
}

/** RunFacts as the row holds them: two fields keep the names that earlier versions stored. */
type StoredFacts = Omit<RunFacts, "answer" | "reservation"> & {
  readonly turn?: RunFacts["answer"];
  readonly held?: RunFacts["reservation"];
};

function toStored({ answer, reservation, ...facts }: RunFacts): StoredFacts {
  return { ...facts, turn: answer, held: reservation };
}

function fromStored({ turn, held, ...facts }: StoredFacts): RunFacts {
  return { ...facts, answer: turn, reservation: held };
}

/** What the row holds of a claim. */
type ClaimRow = Omit<RunClaim, "messages" | "instructions" | "context">;

type RunRow = {
  run_id: string;
  model: string;
  request_hash: string | null;
  owner: string;
  claim: string | null;
  claimed_messages: number;
  created_ms: number;
  steps: number;
  usage: string;
  facts: string;
  title: string | null;
  reason: DoneReason | null;
  error: string | null;
  ended_ms: number | null;
  epoch: number;
  recoveries: number;
  recovered_step: number;
  stop: StopReason | null;
  is_waiting: number;
};
