import type * as v from "valibot";
import type { OperationKind, OperationName } from "../../capabilities/workspace.ts";
import type { ActorId, RunId, TenantId, ToolCallId } from "../../protocol/identity/ids.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { Sources } from "../../protocol/label/source.ts";
import type { Given } from "../../protocol/json/author-data.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { ClosedObjectSchema } from "./definition.ts";

/** A value that SQLite stores. */
export type SqlValue = string | number | null;

type RowSchema = v.GenericSchema<unknown, unknown>;

/** Reads a workspace. Fails: throws for a row that does not fit its schema, and for wrong SQL. */
export interface WorkspaceReads {
  /** The rows, as a list of the caller's own. */
  rows<Row extends RowSchema>(
    row: Row,
    query: string,
    ...bindings: readonly SqlValue[]
  ): v.InferOutput<Row>[];
  /** The first row; undefined when there is none. */
  first<Row extends RowSchema>(
    row: Row,
    query: string,
    ...bindings: readonly SqlValue[]
  ): v.InferOutput<Row> | undefined;
}

/** Reads and changes a workspace. */
export interface WorkspaceSql extends WorkspaceReads {
  /** Runs one statement and answers the number of rows that it changed. */
  run(query: string, ...bindings: readonly SqlValue[]): number;
}

/** Who calls an operation, and what an operation cannot compute. */
export interface WorkspaceCaller {
  readonly tenantId: TenantId;
  readonly workspaceId: string;
  readonly actorId: ActorId;
  /** The person for whom the actor acts. */
  readonly subjectId?: ActorId;
  /** Whose work it is: the subject, or else the actor. */
  readonly authorId: ActorId;
  /** The run of the call. */
  readonly runId: RunId;
  /** The first run of the conversation; the run itself when it continues none. */
  readonly conversationId: RunId;
  /** The call, as the state of its run names it. Absent for the context hook. */
  readonly toolCallId?: ToolCallId;
  readonly nowMs: number;
  /** Answers a new id. */
  readonly newId: () => string;
  /**
   * Tells pages that an entity has changed. If the write is from untrusted text, the runtime marks
   * the entity. No later write removes the mark.
   * Fails: throws in an operation that only reads.
   */
  readonly announce: (change: { readonly entity: string; readonly id: string }) => void;
  /** After which text of others a model asked for this write. Empty: none, and in every read. */
  readonly fromUntrusted: Sources;
  /**
   * Says that the operation uses what an entity holds. If the entity is marked, the output of the
   * call is untrusted, and so is every entity that the operation announces.
   */
  readonly reads: (entity: { readonly entity: string; readonly id: string }) => void;
}

/**
 * One operation on the data of a workspace. Contract: `run` is synchronous and reaches nothing but
 * its three arguments. It runs in one transaction, which is rolled back when it fails or throws.
 */
export interface WorkspaceOperation<
  Kind extends OperationKind = OperationKind,
  In extends ClosedObjectSchema = ClosedObjectSchema,
  Out extends ClosedObjectSchema = ClosedObjectSchema,
> extends OperationName<v.InferInput<In>, v.InferOutput<Out>> {
  /** `[a-z][a-z0-9_]{0,63}` */
  readonly name: string;
  readonly kind: Kind;
  readonly input: In;
  readonly output: Out;
  run(
    sql: Kind extends "write" ? WorkspaceSql : WorkspaceReads,
    args: v.InferOutput<In>,
    caller: WorkspaceCaller,
  ): Result<Given<v.InferInput<Out>>, ToolFailure>;
}

/** An operation with any schemas. */
export type AnyOperation = Omit<WorkspaceOperation, "run" | "types"> & {
  run(sql: never, args: never, caller: WorkspaceCaller): Result<unknown, ToolFailure>;
};

/** The tables of a tool pack and everything that can be done with them. */
export interface WorkspaceDefinition {
  /** `[a-z][a-z0-9-]{0,31}` */
  readonly name: string;
  /**
   * SQL, one entry for each version, the oldest first. An entry may hold several statements.
   * Contract: an entry that was deployed never changes; a change of the tables adds one.
   */
  readonly migrations: readonly string[];
  readonly operations: readonly AnyOperation[];
  /**
   * Tells whether a person who follows the changes hears of one. It is asked after the change, when
   * the change is sent. Contract: as of an operation that reads; a throw withholds the change.
   * Absent: every member of the workspace hears of every change.
   */
  readonly mayHear?: (
    sql: WorkspaceReads,
    change: { readonly entity: string; readonly id: string },
    reader: Pick<WorkspaceCaller, "tenantId" | "workspaceId" | "authorId">,
  ) => boolean;
  /**
   * Reads what the workspace holds of a person, a page at a time. Contract: as of an operation that
   * reads. Absent: an export names the workspace as one without.
   */
  readonly exportPerson?: (sql: WorkspaceReads, query: PersonQuery) => PersonRowsPage;
  /**
   * Deletes what the workspace holds of a person, at most `limit` rows, and answers how many. It is
   * called again until it deletes fewer. Contract: as of an operation that writes. Absent: the
   * receipt of an erasure names the workspace as one without.
   */
  readonly erasePerson?: (
    sql: WorkspaceSql,
    query: Pick<PersonQuery, "personId" | "limit">,
  ) => number;
}

/** Asks for rows of one person. */
export interface PersonQuery {
  /** As in `authorId` of a caller. */
  readonly personId: ActorId;
  readonly limit: number;
  /** `next` of the page before; absent for the first one. */
  readonly after?: string;
}

/** Rows of one person, as the person gets them. */
export interface PersonRowsPage {
  readonly rows: readonly JsonObject[];
  /** Where the next page begins. Absent: this is the last one. */
  readonly next?: string;
}

/** Declares an operation. TypeScript infers the types of `run` from `kind` and the schemas. */
export function defineOperation<
  const Kind extends OperationKind,
  const In extends ClosedObjectSchema,
  const Out extends ClosedObjectSchema,
>(operation: WorkspaceOperation<Kind, In, Out>): WorkspaceOperation<Kind, In, Out> {
  return operation;
}

const WORKSPACE_NAME = /^[a-z][a-z0-9-]{0,31}$/;
const OPERATION_NAME = /^[a-z][a-z0-9_]{0,63}$/;
/** The runtime's own tables begin so. */
const RESERVED = /\binterlock_/i;

/**
 * Declares a workspace. Fails: throws for a wrong name, an operation name that is there twice, and
 * a migration that touches the runtime's own tables.
 */
export function defineWorkspace(definition: WorkspaceDefinition): WorkspaceDefinition {
  const { name, migrations, operations } = definition;
  const reject = (reason: string): never => {
    throw new Error(`Workspace ${JSON.stringify(name)}: ${reason}`);
  };
  if (!WORKSPACE_NAME.test(name)) reject("the name must be 1 to 32 of [a-z0-9-]");
  if (migrations.length === 0) reject("it has no tables; add a migration");
  if (migrations.some((migration) => RESERVED.test(migration))) {
    reject("names that begin with interlock_ are reserved; choose other names");
  }
  const names = new Set<string>();
  for (const { name: operation } of operations) {
    if (!OPERATION_NAME.test(operation)) reject(`${operation} must be 1 to 64 of [a-z0-9_]`);
    if (names.has(operation)) reject(`two operations are named ${operation}; rename one`);
    names.add(operation);
  }
  return definition;
}
