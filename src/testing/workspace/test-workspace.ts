import type {
  OperationAnswer,
  OperationCall,
  OperationName,
} from "../../capabilities/workspace.ts";
import type { WorkspaceDefinition } from "../../contracts/define/define-workspace.ts";
import type { ActorId, RunId, TenantId, ToolCallId } from "../../protocol/identity/ids.ts";
import type { Given } from "../../protocol/json/author-data.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { Sources } from "../../protocol/label/source.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { WorkspaceAddress } from "../../protocol/workspace/address.ts";
import type { WorkspaceChange } from "../../workspace/change-list.ts";
import type { Database } from "../../workspace/database.ts";
import { WorkspaceData } from "../../workspace/workspace-data.ts";
import { FakeClock } from "../time/fake-clock.ts";
import { fillNode20 } from "../fill-node-20.ts";
import { TEST_RUN_ID, TEST_TENANT } from "../run/person.ts";
import { readTime } from "../time/read-time.ts";
import { openSqliteDatabase } from "../memory/sqlite-database.ts";

/** What surrounds one call of an operation. Everything may be left out. */
export interface OperationSurroundings {
  /** Default: `user:ann`. */
  readonly actorId?: string;
  /** The person for whom the actor acts. */
  readonly subjectId?: string;
  /** Default: the run of every test. */
  readonly runId?: string;
  /** Default: the run. */
  readonly conversationId?: string;
  /** The call in its run. Default: none. */
  readonly toolCallId?: string;
  /** After what a write is made. Default: nothing that others wrote. */
  readonly fromUntrusted?: Sources;
  /** The idempotency key of a write. Default: another one for each call. */
  readonly key?: string;
  /** Time from which the call does nothing. Default: never. Unit: Unix milliseconds. */
  readonly deadlineMs?: number;
}

/** A workspace in memory. */
export interface TestWorkspace {
  /** Runs an operation as the object of a workspace does, with its ledger. */
  call<Args, Data>(
    operation: OperationName<Args, Data>,
    args: Given<Args>,
    surroundings?: OperationSurroundings,
  ): Promise<Result<Data, ToolFailure> & Pick<OperationAnswer, "write" | "fromUntrusted">>;
  /**
   * Reads all that the workspace holds of a person, page after page; undefined where it does not
   * declare `exportPerson`. Fails: throws what that throws, and when its pages do not end.
   */
  exportPerson(personId: string): readonly JsonObject[] | undefined;
  /**
   * Erases all that it holds of a person, batch after batch. Answers how many rows; undefined where
   * it does not declare `erasePerson`. Fails: as above.
   */
  erasePerson(personId: string): number | undefined;
  /** What operations have announced, the oldest first. */
  readonly changes: readonly WorkspaceChange[];
  /** What operations have thrown, and which fields of their results do not fit. */
  readonly faults: readonly unknown[];
  /** Lets time pass. Unit: milliseconds. */
  advance(ms: number): void;
  /**
   * Opens the same data with another definition, as newer code does.
   * Contract: this workspace is not used any more.
   */
  reopen(definition: WorkspaceDefinition): TestWorkspace;
}

export interface WorkspaceSettings {
  /** The start of the clock. Default: 2026-01-02, 03:04:05 UTC. */
  readonly now?: string | number | Date;
  /** Default: `studio`. */
  readonly workspaceId?: string;
  /** Default: `acme`, as of a person. */
  readonly tenantId?: string;
}

/** The retention of keys in a test: a day. */
const KEY_KEPT_MS = 86_400_000;

/**
 * Opens an empty workspace, for tests of its operations without a Worker. Ids are `id_1`, `id_2`.
 * Fails: throws on a Node without `node:sqlite`.
 */
export function testWorkspace(
  definition: WorkspaceDefinition,
  settings: WorkspaceSettings = {},
): TestWorkspace {
  fillNode20();
  const nowMs = new FakeClock(readTime(settings.now)).nowMs();
  const state = { database: openSqliteDatabase(), nowMs, ids: 0, keys: 0 };
  return openTestWorkspace(definition, settings, state);
}

/** What outlives a change of the definition. */
interface TestState {
  readonly database: Database;
  nowMs: number;
  ids: number;
  keys: number;
}

function openTestWorkspace(
  definition: WorkspaceDefinition,
  settings: WorkspaceSettings,
  state: TestState,
): TestWorkspace {
  const { workspaceId = "studio", tenantId = TEST_TENANT } = settings;
  const workspace: WorkspaceAddress = {
    name: definition.name,
    tenantId: tenantId as TenantId,
    workspaceId,
  };
  const changes: WorkspaceChange[] = [];
  const faults: unknown[] = [];
  let refusal: unknown;
  const data = new WorkspaceData({
    database: state.database,
    definitions: [definition],
    nowMs: () => state.nowMs,
    newId: () => `id_${++state.ids}`,
    keyKeptMs: KEY_KEPT_MS,
    fault(code, thrown) {
      if (code === "workspace_refused") refusal = thrown;
      return `err_${faults.push(thrown)}`;
    },
    noteMismatch: (operation, mismatch) => void faults.push(`${operation}: ${mismatch}`),
    announce: (announced) => void changes.push(...announced),
  });
  const opened: TestWorkspace = {
    changes,
    faults,
    async call<Args, Data>(
      { name: operation, kind }: OperationName<Args, Data>,
      args: Given<Args>,
      surroundings: OperationSurroundings = {},
    ) {
      const { actorId = "user:ann", subjectId, toolCallId, key, deadlineMs } = surroundings;
      const { fromUntrusted } = surroundings;
      const { runId = TEST_RUN_ID, conversationId = runId } = surroundings;
      const call: OperationCall = {
        workspace,
        operation,
        args,
        actorId: actorId as ActorId,
        ...(subjectId !== undefined && { subjectId: subjectId as ActorId }),
        runId: runId as RunId,
        conversationId: conversationId as RunId,
        ...(toolCallId !== undefined && { toolCallId: toolCallId as ToolCallId }),
        ...(kind === "write" && { key: key ?? `key_${++state.keys}` }),
        ...(fromUntrusted && { fromUntrusted }),
        deadlineMs: deadlineMs ?? Number.POSITIVE_INFINITY,
      };
      const { result, ...more } = await data.call(call);
      return { ...(result as Result<Data, ToolFailure>), ...more };
    },
    exportPerson(personId) {
      const rows: JsonObject[] = [];
      return step((after?: string) => {
        const own = { personId: personId as ActorId, ...(after !== undefined && { after }) };
        const page = data.exportPerson(workspace, own);
        if (page.kind === "unreachable") throw faults.at(-1) ?? refusal;
        if (page.kind !== "rows" || !definition.exportPerson) return { answer: undefined };
        rows.push(...page.rows);
        return page.next === undefined ? { answer: rows } : { next: page.next };
      });
    },
    erasePerson(personId) {
      let rows = 0;
      return step(() => {
        const batch = data.erasePerson(workspace, personId as ActorId);
        if (batch.kind === "unreachable") throw faults.at(-1) ?? refusal;
        if (batch.kind !== "erased" || !definition.erasePerson) return { answer: undefined };
        rows += batch.rows;
        return batch.isMore ? { next: "" } : { answer: rows };
      });
    },
    advance(ms) {
      state.nowMs += ms;
      data.clean();
    },
    reopen: (newer) => openTestWorkspace(newer, settings, state),
  };
  HOSTED.set(opened, {
    address: workspace,
    call: (call, nowMs) => {
      state.nowMs = Math.max(state.nowMs, nowMs);
      return data.call(call);
    },
    refusal: () => refusal,
  });
  return opened;
}

/** Pages or batches of one person in a test. */
const MAX_STEPS = 1_000;

/** Takes steps until one has an answer. Fails: throws when none has. */
function step<Answer>(
  take: (after?: string) => { readonly answer: Answer } | { readonly next: string },
): Answer {
  let next: string | undefined;
  for (let at = 0; at < MAX_STEPS; at++) {
    const taken = take(next);
    if ("answer" in taken) return taken.answer;
    next = taken.next;
  }
  throw new Error(`It does not end after ${MAX_STEPS} pages.`);
}

/** What a run of a test reaches of a workspace. */
export interface Hosted {
  readonly address: WorkspaceAddress;
  /** The workspace's time is at least `nowMs`. */
  readonly call: (call: OperationCall, nowMs: number) => Promise<OperationAnswer>;
  /** Why its tables cannot be opened; undefined when they can, and before the first call. */
  readonly refusal: () => unknown;
}

const HOSTED = new WeakMap<TestWorkspace, Hosted>();

/** Finds what a run reaches. Fails: throws for what `testWorkspace` did not open. */
export function hostedOf(workspace: TestWorkspace): Hosted {
  const hosted = HOSTED.get(workspace);
  if (!hosted) throw new Error("Open each workspace of a run with testWorkspace.");
  return hosted;
}
