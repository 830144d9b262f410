import * as v from "valibot";
import {
  ok,
  type OperationName,
  type Result,
  type ToolFailure,
  type Workspace,
  type WorkspaceCaller,
  type WorkspaceOperation,
} from "interlock-edge/tools";

import { time } from "./entities/fields.ts";
import { toIso } from "./iso-time.ts";

type Closed = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** The result of an operation, and when it ran: ISO 8601, UTC. */
interface Timed<Data> {
  readonly data: Data;
  readonly at: string;
}

/**
 * The operation as the workspace runs it. The time enters the ledger with the result, so that a
 * repeated call answers the same.
 */
export function timed(operation: AnyGameplanOperation): AnyGameplanOperation {
  const known = timedOperations.get(operation);
  if (known) return known;
  const made = addTime(operation);
  timedOperations.set(operation, made);
  return made;
}

const timedOperations = new WeakMap<AnyGameplanOperation, AnyGameplanOperation>();

function addTime(operation: AnyGameplanOperation): AnyGameplanOperation {
  // Its schemas and its function are those of one operation.
  const runnable = operation as unknown as WorkspaceOperation<"write">;
  return {
    name: operation.name,
    kind: operation.kind,
    input: operation.input,
    output: v.strictObject({ data: operation.output, at: time }),
    run(sql: never, args: never, caller: WorkspaceCaller) {
      const result = runnable.run(sql, args, caller);
      return result.ok ? ok({ data: result.value, at: toIso(caller.nowMs) }) : result;
    },
  };
}

/** An operation of GamePlan with any schemas. */
export interface AnyGameplanOperation {
  readonly name: string;
  readonly kind: "read" | "write";
  readonly input: Closed;
  readonly output: Closed;
  run(sql: never, args: never, caller: WorkspaceCaller): Result<unknown, ToolFailure>;
}

/** Calls an operation of GamePlan in the workspace of a call. */
export function callTimed<Args, Data>(
  workspace: Workspace,
  operation: AnyGameplanOperation & OperationName<Args, Data>,
  args: Args,
): Promise<Result<Timed<Data>, ToolFailure>> {
  const called: OperationName<Args, Timed<Data>> = timed(operation);
  return workspace.call(called, args);
}

/** Reads the workspace of a call. */
export type Read = <Args, Data>(
  operation: AnyGameplanOperation & OperationName<Args, Data>,
  args: Args,
) => Promise<Result<Data, ToolFailure>>;

/** Makes what reads the workspace of a call. */
export function readerOf(workspace: Workspace): Read {
  return async (operation, args) => {
    const answer = await callTimed(workspace, operation, args);
    return answer.ok ? ok(answer.value.data) : answer;
  };
}
