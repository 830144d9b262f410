import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import type { ToolFailure } from "../../../../src/exports/tools.ts";
import { MIGRATIONS } from "../../tables.ts";

/** An operation, as a test calls it. */
interface TestedOperation<Args, Data> {
  readonly kind: "read" | "write";
  readonly types?: { readonly args: Args; readonly data: Data };
  readonly input: v.GenericSchema;
  readonly output: v.GenericSchema;
  run(sql: never, args: never, caller: never): unknown;
}

type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: ToolFailure };

/** A workspace in memory. Operations run in a transaction, as in the object of a workspace. */
export class MemoryWorkspace {
  readonly #database = new DatabaseSync(":memory:");
  #lastId = 0;
  nowMs = Date.UTC(2026, 10, 22);
  readonly announced: string[] = [];
  /** Rows that queries answered. */
  rowsRead = 0;

  constructor() {
    for (const migration of MIGRATIONS) this.#database.exec(migration);
  }

  /** Calls an operation for a person. Fails: throws what the operation refuses. */
  call<Args, Data>(operation: TestedOperation<Args, Data>, args: Args, person = "user:ann"): Data {
    const outcome = this.try(operation, args, person);
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
    return outcome.value as Data;
  }

  /** Calls an operation and answers the code of its refusal; undefined when it succeeds. */
  refusal<Args, Data>(
    operation: TestedOperation<Args, Data>,
    args: Args,
    person = "user:ann",
    tenantId = "acme",
  ): string | undefined {
    const outcome = this.try(operation, args, person, tenantId);
    return outcome.ok ? undefined : outcome.failure.errors[0]?.code;
  }

  try<Args, Data>(
    operation: TestedOperation<Args, Data>,
    args: Args,
    person: string,
    tenantId = "acme",
  ): Outcome {
    const runnable = operation as unknown as {
      run(sql: object, args: unknown, caller: object): Outcome;
    };
    const announced: string[] = [];
    const caller = {
      tenantId,
      workspaceId: "studio",
      actorId: person,
      authorId: person,
      runId: "run_1",
      conversationId: "run_1",
      nowMs: this.nowMs,
      newId: () => `id-${++this.#lastId}`,
      announce: ({ entity, id }: { entity: string; id: string }) =>
        announced.push(`${entity} ${id}`),
    };
    this.#database.exec("BEGIN");
    let outcome: Outcome | undefined;
    try {
      outcome = runnable.run(this.#sql(), v.parse(operation.input, args), caller);
      if (outcome.ok) v.parse(operation.output, outcome.value);
    } finally {
      this.#database.exec(outcome?.ok === true ? "COMMIT" : "ROLLBACK");
    }
    if (outcome.ok) this.announced.push(...announced);
    return outcome;
  }

  /** Runs SQL at once, for many rows that no test calls one by one. */
  fill(query: string): void {
    this.#database.exec(query);
  }

  /** Counts the rows of a table. */
  count(table: string): number {
    const row = this.#database.prepare(`SELECT count(*) AS n FROM ${table}`).get();
    return Number(row?.["n"]);
  }

  #sql(): object {
    const rows = (schema: v.GenericSchema, query: string, ...bindings: (string | number)[]) => {
      const found = this.#database.prepare(query).all(...bindings);
      this.rowsRead += found.length;
      return found.map((row) => v.parse(schema, row));
    };
    return {
      rows,
      first: (schema: v.GenericSchema, query: string, ...bindings: (string | number)[]) =>
        rows(schema, query, ...bindings)[0],
      run: (query: string, ...bindings: (string | number)[]) =>
        Number(this.#database.prepare(query).run(...bindings).changes),
    };
  }
}
