import { failCall } from "../protocol/outcome/failures.ts";
import * as v from "valibot";
import { classifyIssues } from "../contracts/bind/classify-issues.ts";
import type {
  AnyOperation,
  WorkspaceCaller,
  WorkspaceOperation,
} from "../contracts/define/define-workspace.ts";
import { MAX_CONTRACT_BYTES } from "../protocol/identity/ids.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { Database } from "./database.ts";
import { createSql } from "./operation-sql.ts";

const UTF_8 = new TextEncoder();

/** How an operation ended. */
export interface Ran {
  readonly result: Result<JsonObject, ToolFailure>;
  /** The operation itself answered so. Anything else may become another answer in newer code. */
  readonly isFinal: boolean;
  /** The field of the result that does not fit, for operators; it repeats no value. */
  readonly mismatch?: string;
}

/**
 * Runs one operation in a transaction. A read is rolled back in any case, so it changes nothing.
 * Contract: a failure has changed nothing. Fails: what the operation fails with;
 * STRUCTURAL_VIOLATION, TYPE_MISMATCH and OUT_OF_BOUNDS for arguments that do not fit;
 * OBSERVATION_NORMALIZATION_FAIL for a result that does not fit. Throws what the operation throws.
 */
export function runOperation(
  database: Database,
  operation: AnyOperation,
  { args, caller }: { readonly args: unknown; readonly caller: WorkspaceCaller },
): Ran {
  const input = v.safeParse(operation.input, args);
  if (!input.success) return { result: fail(classifyIssues(input.issues)), isFinal: false };
  // The function accepts exactly what its own schema lets through.
  const runnable = operation as unknown as WorkspaceOperation<"write">;
  const mayKeep = operation.kind === "write";
  return rollBackUnless(
    database,
    ({ result }: Ran) => result.ok && mayKeep,
    () => {
      const answer = runnable.run(createSql(database), input.output, caller);
      if (!answer.ok) return { result: fail(answer.failure), isFinal: true };
      const output = v.safeParse(operation.output, answer.value);
      if (!output.success) {
        const [error] = classifyIssues(output.issues).errors;
        const mismatch = `${error?.field ?? "the result"}: ${error?.message}`;
        return { ...refuseResult(operation, "does not fit its output schema"), mismatch };
      }
      if (isTooLong(output.output)) return refuseResult(operation, "is too long");
      return { result: ok(output.output as JsonObject), isFinal: true };
    },
  );
}

/** Tells whether a value is longer than a call of a workspace may be, as JSON. */
export function isTooLong(value: unknown): boolean {
  const text = JSON.stringify(value) ?? "";
  // No character has fewer bytes than one, so most values need no encoding.
  return text.length > MAX_CONTRACT_BYTES || UTF_8.encode(text).length > MAX_CONTRACT_BYTES;
}

function refuseResult({ name }: AnyOperation, reason: string): Ran {
  const message = `the result of ${name} ${reason}; nothing was changed`;
  return { result: failCall("result_refused", message), isFinal: false };
}

/** Carries an answer out of a transaction that is rolled back. */
class RolledBack<T> {
  readonly answer: T;

  constructor(answer: T) {
    this.answer = answer;
  }
}

/** Runs in a transaction, and keeps what it wrote only for some answers. */
export function rollBackUnless<T>(
  database: Database,
  isKept: (answer: T) => boolean,
  run: () => T,
): T {
  try {
    return database.transaction(() => {
      const answer = run();
      if (!isKept(answer)) throw new RolledBack(answer);
      return answer;
    });
  } catch (thrown) {
    if (thrown instanceof RolledBack) return thrown.answer as T;
    throw thrown;
  }
}
