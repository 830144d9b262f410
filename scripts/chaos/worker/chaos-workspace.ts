import * as v from "valibot";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import {
  defineOperation,
  defineWorkspace,
} from "../../../src/contracts/define/define-workspace.ts";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";

const operation = v.pipe(v.number(), v.integer(), v.minValue(0));

/** An operation of which the rest of its division by seven is three is refused. */
export function isRefused(number: number): boolean {
  return number % 7 === 3;
}

const keep = defineOperation({
  name: "keep",
  kind: "write",
  input: v.strictObject({ operation }),
  output: v.strictObject({ id: v.string() }),
  run(sql, { operation: number }, { newId, announce }) {
    const id = newId();
    sql.run("INSERT INTO kept (id, operation) VALUES (?, ?)", id, number);
    sql.run("UPDATE total SET kept = kept + 1");
    announce({ entity: "kept", id });
    if (!isRefused(number)) return ok({ id });
    const error = { field: "/operation", code: "refused", message: "expected another operation" };
    return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors: [error] });
  },
});

const count = v.object({ count: v.number() });

/** Compares the rows of a workspace with its ledger and its changes. */
const compare = defineOperation({
  name: "compare",
  kind: "read",
  input: v.strictObject({}),
  output: v.strictObject({
    operations: v.array(v.number()),
    total: v.number(),
    changes: v.number(),
    accepted: v.number(),
    refused: v.number(),
    /** Rows without a ledger row, and results of the ledger without a row. */
    strays: v.number(),
  }),
  run(sql) {
    const one = (query: string): number => sql.first(count, query)?.count ?? -1;
    const done = "json_extract(result, '$.ok') = 1";
    const id = "json_extract(result, '$.value.id')";
    return ok({
      operations: sql
        .rows(count, "SELECT operation AS count FROM kept ORDER BY operation")
        .map((row) => row.count),
      total: one("SELECT kept AS count FROM total"),
      changes: one("SELECT coalesce(max(revision), 0) AS count FROM interlock_changes"),
      accepted: one(`SELECT count(*) AS count FROM interlock_ledger WHERE ${done}`),
      refused: one(`SELECT count(*) AS count FROM interlock_ledger WHERE NOT ${done}`),
      strays: one(
        `SELECT (SELECT count(*) FROM kept WHERE id NOT IN
           (SELECT ${id} FROM interlock_ledger WHERE ${done})) +
         (SELECT count(*) FROM interlock_ledger WHERE ${done} AND ${id} NOT IN
           (SELECT id FROM kept)) AS count`,
      ),
    });
  },
});

/** The workspace of the chaos Worker. */
export const chaosWorkspace = defineWorkspace({
  name: "chaos",
  migrations: [
    "CREATE TABLE kept (id TEXT PRIMARY KEY, operation INTEGER NOT NULL)",
    "CREATE TABLE total (kept INTEGER NOT NULL); INSERT INTO total VALUES (0)",
  ],
  operations: [keep, compare],
});

const base = { version: "1.0.0", capabilities: ["workspace"], workspace: "chaos" } as const;
const runtime = { rateLimit: { windowSeconds: 60, maxRequests: 1_000 } };

const keepTool = defineTool({
  ...base,
  name: "chaos__keep",
  description: "Keeps an operation in the workspace.",
  input: v.strictObject({ operation }),
  output: keep.output,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["operation"], output: ["id"] },
  runtime,
  execute: (args, _context, { workspace }) => workspace.call(keep, args),
});

const compareTool = defineTool({
  ...base,
  name: "chaos__compare",
  description: "Compares the rows of the workspace with its ledger.",
  input: v.strictObject({}),
  output: compare.output,
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: {
    args: [],
    output: ["operations", "total", "changes", "accepted", "refused", "strays"],
  },
  runtime,
  execute: (_args, _context, { workspace }) => workspace.call(compare, {}),
});

/** Tools that keep and compare business data. */
export const WORKSPACE_TOOLS = [keepTool, compareTool];

/** What `compare` answers. */
export type Comparison = v.InferOutput<typeof compare.output>;
