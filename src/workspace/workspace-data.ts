import type { OperationAnswer, OperationCall, WriteState } from "../capabilities/workspace.ts";
import type { ErasedRows, PersonPage, PersonRows } from "../capabilities/people.ts";
import type { AnyOperation, WorkspaceDefinition } from "../contracts/define/define-workspace.ts";
import type { ActorId } from "../protocol/identity/ids.ts";
import { personOf } from "../protocol/identity/principal.ts";
import { joinSources, type Sources } from "../protocol/label/source.ts";
import { hashOf } from "../protocol/json/canonical-hash.ts";
import type { JsonValue } from "../protocol/json/value.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { objectNameOf, type WorkspaceAddress } from "../protocol/workspace/address.ts";
import { addChange, changesAfter, newestRevision, type WorkspaceChange } from "./change-list.ts";
import type { Database } from "./database.ts";
import { addToLedger, cleanLedger, findInLedger } from "./ledger.ts";
import { createTables, migrateTables, readAddress } from "./open-tables.ts";
import { addMark, markOf } from "./marks.ts";
import { createSql } from "./operation-sql.ts";
import { erasePerson, exportPerson } from "./person-rows.ts";
import * as refusals from "./refusals.ts";
import { isTooLong, rollBackUnless, runOperation, type Ran } from "./run-operation.ts";

/** What the data of one workspace needs. */
export interface WorkspacePorts {
  readonly database: Database;
  readonly definitions: readonly WorkspaceDefinition[];
  readonly nowMs: () => number;
  readonly newId: () => string;
  /** How long a key may be used again at most. Unit: milliseconds. */
  readonly keyKeptMs: number;
  /** Logs an error that nobody expected, and answers its id. */
  readonly fault: (code: "operation_threw" | "workspace_refused", thrown: unknown) => string;
  /** Logs which field of an operation's result does not fit its schema. */
  readonly noteMismatch: (operation: string, mismatch: string) => void;
  /** Takes what a write has announced, after its transaction. */
  readonly announce: (changes: readonly WorkspaceChange[]) => void;
}

/** A ledger row stays for a day after its key can be used. Unit: milliseconds. */
const MARGIN_MS = 86_400_000;

/**
 * The data of one workspace: its tables, its ledger and its changes.
 * Ownership: one for each database; the only one that reads and writes it.
 */
export class WorkspaceData {
  readonly #ports: WorkspacePorts;
  #objectName: string | undefined;
  #definition: WorkspaceDefinition | undefined;
  /** Why this code cannot use the tables. Nothing is read or written then. */
  #refusal: ToolFailure | undefined;

  /** Opens a used database: brings its tables to the version of this code. */
  constructor(ports: WorkspacePorts) {
    this.#ports = ports;
    const address = readAddress(ports.database);
    if (address) this.#open(address, (definition) => migrateTables(ports.database, definition));
  }

  /**
   * Runs an operation, and a write once for each key.
   * Contract: throws only for a call that is meant for another workspace.
   */
  async call(call: OperationCall): Promise<OperationAnswer> {
    const { workspace, operation, args, rehearsalKey, key = rehearsalKey } = call;
    if (isTooLong(args)) return { result: fail(refusals.ARGUMENTS_TOO_LONG) };
    const payload = { operation, args: (args ?? null) as JsonValue };
    const payloadHash = key === undefined ? undefined : await hashOf(payload);
    const opened = this.#claim(workspace);
    if (!opened.ok) return { result: opened };
    if (key === undefined || payloadHash === undefined) return this.#read(call);
    return this.#write(call, { key, payloadHash });
  }

  /** Reads what it holds of a person. Contract: throws only for another workspace. */
  exportPerson(workspace: WorkspaceAddress, page: PersonPage): PersonRows {
    const nothing = { kind: "rows", rows: [] } as const;
    return this.#ask<PersonRows>(workspace, nothing, (database, definition) =>
      exportPerson(database, definition, page),
    );
  }

  /** Erases what it holds of a person, one batch. Contract: as above. */
  erasePerson(workspace: WorkspaceAddress, personId: ActorId): ErasedRows {
    const nothing = { kind: "erased", rows: 0, isMore: false } as const;
    return this.#ask<ErasedRows>(workspace, nothing, (database, definition) =>
      erasePerson(database, definition, personId),
    );
  }

  get newestRevision(): number {
    return this.#objectName === undefined ? 0 : newestRevision(this.#ports.database);
  }

  /** Reads the changes after a revision; undefined when some of them are not kept any more. */
  changesAfter(revision: number): readonly WorkspaceChange[] | undefined {
    if (this.#objectName === undefined) return revision === 0 ? [] : undefined;
    return changesAfter(this.#ports.database, revision);
  }

  /** Leaves of changes those of which a person may hear. Contract: fails closed. */
  heardBy(
    workspace: WorkspaceAddress,
    authorId: ActorId,
    changes: readonly WorkspaceChange[],
  ): readonly WorkspaceChange[] {
    const heard = this.#ask(workspace, changes, (database, { mayHear }) =>
      mayHear
        ? rollBackUnless(
            database,
            () => false,
            () =>
              changes.filter((change) =>
                mayHear(createSql(database), change, { ...workspace, authorId }),
              ),
          )
        : changes,
    );
    return "kind" in heard ? [] : heard;
  }

  /** Removes a batch of expired ledger rows. Answers when to call it again. */
  clean(): number | undefined {
    const { database, nowMs } = this.#ports;
    return this.#objectName === undefined ? undefined : cleanLedger(database, nowMs());
  }

  #read(call: OperationCall): OperationAnswer {
    const found = this.#find(call);
    if (!found.ok) return { result: found };
    if (found.value.kind === "write") return { result: fail(refusals.NO_KEY) };
    const announce = (): never => {
      throw new Error(`${call.operation} only reads; it has no change to announce`);
    };
    const { result, sources } = this.#run(call, found.value, announce);
    return { result, ...fromUntrusted(sources) };
  }

  /**
   * One transaction: the ledger is asked, the operation runs, its result enters the ledger. A
   * rehearsal is rolled back.
   */
  #write(
    call: OperationCall,
    { key, payloadHash }: { readonly key: string; readonly payloadHash: string },
  ): OperationAnswer {
    const { database, nowMs, keyKeptMs, announce } = this.#ports;
    const changes: WorkspaceChange[] = [];
    const isKept = call.rehearsalKey === undefined;
    const write = (): OperationAnswer => {
      const known = findInLedger(database, key);
      if (known) {
        const isSame = known.payloadHash === payloadHash;
        const result = isSame ? known.result : fail(refusals.OTHER_PAYLOAD);
        return { result, write: stateOf(known.result), ...fromUntrusted(known.sources) };
      }
      const found = this.#find(call);
      if (!found.ok) return { result: found, write: "unchanged" };
      const { result, isFinal, sources } = this.#run(call, found.value, (change) => {
        changes.push(addChange(database, change));
      });
      if (result.ok) {
        const mark = joinSources(call.fromUntrusted ?? [], sources);
        for (const change of changes) addMark(database, change, mark);
      }
      const expiresAtMs = nowMs() + Math.max(keyKeptMs, call.keyTtlMs ?? 0) + MARGIN_MS;
      const row = { key, payloadHash, person: personOf(call), result, sources, expiresAtMs };
      if (isFinal) addToLedger(database, row);
      return { result, write: stateOf(result), ...fromUntrusted(sources) };
    };
    const answer = rollBackUnless(database, () => isKept, write);
    if (isKept && answer.result.ok && changes.length > 0) announce(changes);
    return answer;
  }

  #find({ operation: name, deadlineMs }: OperationCall): Result<AnyOperation, ToolFailure> {
    if (this.#ports.nowMs() > deadlineMs) return fail(refusals.TOO_LATE);
    const operation = this.#definition?.operations.find((candidate) => candidate.name === name);
    return operation ? ok(operation) : fail(refusals.UNKNOWN_OPERATION);
  }

  #run(
    call: OperationCall,
    operation: AnyOperation,
    announce: (change: Pick<WorkspaceChange, "entity" | "id">) => void,
  ): Ran & { readonly sources: Sources } {
    const { database, nowMs, newId, fault, noteMismatch } = this.#ports;
    const { workspace, actorId, subjectId, runId, conversationId, toolCallId, args } = call;
    let sources: Sources = [];
    const caller = {
      tenantId: workspace.tenantId,
      workspaceId: workspace.workspaceId,
      actorId,
      ...(subjectId !== undefined && { subjectId }),
      authorId: personOf({ actorId, subjectId }),
      runId,
      conversationId,
      ...(toolCallId !== undefined && { toolCallId }),
      nowMs: nowMs(),
      newId,
      announce,
      fromUntrusted: call.fromUntrusted ?? [],
      reads(entity: Pick<WorkspaceChange, "entity" | "id">) {
        sources = joinSources(sources, markOf(database, entity));
      },
    };
    try {
      const ran = runOperation(database, operation, { args, caller });
      if (ran.mismatch !== undefined) noteMismatch(operation.name, ran.mismatch);
      return { ...ran, sources };
    } catch (thrown) {
      const errorId = fault("operation_threw", thrown);
      const result = fail({ ...refusals.OPERATION_FAILED, errorId });
      return { result, isFinal: false, sources };
    }
  }

  /** Creates the tables at the first call. Threat: an object is asked for another's data. */
  #claim(workspace: WorkspaceAddress): Result<null, ToolFailure> {
    if (this.#objectName === undefined && !this.#refusal) this.#create(workspace);
    if (this.#refusal) return fail(this.#refusal);
    if (this.#objectName !== objectNameOf(workspace)) {
      throw new Error("the object of one workspace was asked for another");
    }
    return ok(null);
  }

  /** Asks the author's code. A workspace that nobody used answers `nothing`. */
  #ask<Answer>(
    workspace: WorkspaceAddress,
    nothing: Answer,
    ask: (database: Database, definition: WorkspaceDefinition) => Answer,
  ): Answer | { readonly kind: "unreachable" } {
    if (this.#refusal) return { kind: "unreachable" };
    if (!this.#definition) return nothing;
    this.#claim(workspace);
    try {
      return ask(this.#ports.database, this.#definition);
    } catch (thrown) {
      this.#ports.fault("operation_threw", thrown);
      return { kind: "unreachable" };
    }
  }

  #create(workspace: WorkspaceAddress): void {
    const { database } = this.#ports;
    this.#open(workspace, (definition) => createTables(database, definition, workspace));
  }

  #open(address: WorkspaceAddress, prepareTables: (definition: WorkspaceDefinition) => void): void {
    const { definitions, fault } = this.#ports;
    try {
      const definition = definitions.find(({ name }) => name === address.name);
      if (!definition) throw new Error(`the deployment has no workspace ${address.name}`);
      prepareTables(definition);
      this.#definition = definition;
      this.#objectName = objectNameOf(address);
    } catch (thrown) {
      this.#refusal = { ...refusals.UNUSABLE, errorId: fault("workspace_refused", thrown) };
    }
  }
}

function fromUntrusted(sources: Sources): Pick<OperationAnswer, "fromUntrusted"> {
  return sources.length > 0 ? { fromUntrusted: sources } : {};
}

function stateOf({ ok: isDone }: Ran["result"]): WriteState {
  return isDone ? "changed" : "unchanged";
}
