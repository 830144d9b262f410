import type { ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { InvocationState } from "../../src/protocol/invocation/state.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type {
  InvocationBinding,
  InvocationEnd,
  Settlement,
  ToolInvocationRecord,
} from "../../src/protocol/invocation/record.ts";

/**
 * A run's invocation records in SQLite, raw arguments included.
 * Ownership: one per run object; the only writer of the `invocations` table.
 */
export class StoredInvocations {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Stores the newest record of an operation. Only `resolve` stores the report of an operator,
   * because the loop may hold a record without this report.
   * Fails: throws for a second record of the same logical operation.
   */
  put(record: ToolInvocationRecord): void {
    const { shownArgs, ...binding } = record.binding ?? {};
    this.#sql.exec(
      `INSERT INTO invocations (seq, step, tool_call_id, part, name, arguments_text, truncated, state,
         dispatches, binding, args, amounts, awaited_until_ms, asked_ms, ending)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (seq) DO UPDATE SET state = excluded.state, dispatches = excluded.dispatches,
         binding = excluded.binding, args = excluded.args,
         amounts = excluded.amounts, awaited_until_ms = excluded.awaited_until_ms,
         ending = excluded.ending`,
      record.number,
      record.step,
      record.toolCallId,
      record.part,
      record.name,
      // As JSON: SQLite would replace lone surrogates, which a model may write.
      JSON.stringify(record.argumentsText),
      record.truncated ? 1 : 0,
      record.state,
      record.dispatches,
      record.binding ? JSON.stringify(binding) : null,
      shownArgs ? JSON.stringify(shownArgs) : null,
      record.amounts ? JSON.stringify(record.amounts) : null,
      record.awaitedUntilMs ?? null,
      record.askedAtMs,
      record.end ? JSON.stringify(record.end) : null,
    );
  }

  all(): readonly ToolInvocationRecord[] {
    return this.#sql
      .exec<InvocationRow>("SELECT * FROM invocations ORDER BY seq")
      .toArray()
      .map(toRecord);
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM invocations").one().n;
  }

  find(number: number): ToolInvocationRecord | undefined {
    const [row] = this.#sql
      .exec<InvocationRow>("SELECT * FROM invocations WHERE seq = ?", number)
      .toArray();
    return row && toRecord(row);
  }

  /** Operations with an unknown outcome that no operator has resolved. */
  awaitingOperator(): readonly ToolInvocationRecord[] {
    return this.all().filter(awaitsOperator);
  }

  /** Gives a call other arguments. Contract: no effect once the call is bound or dispatched. */
  edit(number: number, argumentsText: string): void {
    this.#sql.exec(
      `UPDATE invocations SET arguments_text = ?, truncated = 0
       WHERE seq = ? AND dispatches = 0 AND binding IS NULL`,
      JSON.stringify(argumentsText),
      number,
    );
  }

  /** Stores the report that resolves an unknown outcome. Contract: the first report stays. */
  resolve(number: number, settlement: Settlement): void {
    this.#sql.exec(
      "UPDATE invocations SET settlement = ? WHERE seq = ? AND settlement IS NULL",
      JSON.stringify(settlement),
      number,
    );
  }
}

/** Tells whether an operation waits for an operator to resolve its outcome. */
export function awaitsOperator({ awaitedUntilMs, settlement, end }: ToolInvocationRecord): boolean {
  return awaitedUntilMs !== undefined && !settlement && !end;
}

type InvocationRow = {
  seq: number;
  step: number;
  tool_call_id: string;
  part: number;
  name: string;
  arguments_text: string;
  truncated: number;
  state: InvocationState;
  dispatches: number;
  binding: string | null;
  args: string | null;
  amounts: string | null;
  awaited_until_ms: number | null;
  settlement: string | null;
  asked_ms: number;
  ending: string | null;
};

function toRecord(row: InvocationRow): ToolInvocationRecord {
  const binding = parse(row.binding) as Omit<InvocationBinding, "shownArgs"> | undefined;
  const shownArgs = parse(row.args) as JsonObject | undefined;
  const amounts = parse(row.amounts) as ToolInvocationRecord["amounts"];
  const settlement = parse(row.settlement) as Settlement | undefined;
  const end = parse(row.ending) as InvocationEnd | undefined;
  return {
    number: row.seq,
    toolCallId: row.tool_call_id as ToolCallId,
    step: row.step,
    part: row.part,
    name: row.name,
    argumentsText: JSON.parse(row.arguments_text) as string,
    truncated: row.truncated === 1,
    state: row.state,
    dispatches: row.dispatches,
    ...(binding && shownArgs && { binding: { ...binding, shownArgs } }),
    ...(amounts && { amounts }),
    ...(row.awaited_until_ms !== null && { awaitedUntilMs: row.awaited_until_ms }),
    ...(settlement && { settlement }),
    askedAtMs: row.asked_ms,
    ...(end && { end }),
  };
}

function parse(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}
