import * as v from "valibot";
import {
  ok,
  type AnyOperation,
  type OperationName,
  type Result,
  type ToolFailure,
  type Workspace,
} from "interlock-edge/tools";

import { time } from "./entities/fields.ts";
import { toIso } from "./iso-time.ts";

/** The result of an operation, and when it ran: ISO 8601, UTC. */
interface Timed<Data> {
  readonly data: Data;
  readonly at: string;
}

/**
 * Makes of an operation what the workspace runs. The time enters the ledger with the result, so
 * that a repeated call answers the same.
 */
export function timed(operation: AnyOperation): AnyOperation {
  return {
    ...operation,
    output: v.strictObject({ data: operation.output, at: time }),
    run(sql, args, caller) {
      const result = operation.run(sql, args, caller);
      return result.ok ? ok({ data: result.value, at: toIso(caller.nowMs) }) : result;
    },
  };
}

/** Calls an operation of GamePlan in the workspace of a call. */
export function callTimed<Args, Data>(
  workspace: Pick<Workspace, "call">,
  { name, kind }: OperationName<Args, Data>,
  args: Args,
): Promise<Result<Timed<Data>, ToolFailure>> {
  const called: OperationName<Args, Timed<Data>> = { name, kind };
  return workspace.call(called, args);
}

/** Reads the workspace of a call. */
export type Read = <Args, Data>(
  operation: OperationName<Args, Data>,
  args: Args,
) => Promise<Result<Data, ToolFailure>>;

/** Makes what reads the workspace of a call. */
export function readerOf(workspace: Pick<Workspace, "call">): Read {
  return async (operation, args) => {
    const answer = await callTimed(workspace, operation, args);
    return answer.ok ? ok(answer.value.data) : answer;
  };
}
