import * as v from "valibot";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import {
  defineOperation,
  defineWorkspace,
} from "../../../src/contracts/define/define-workspace.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { GAMEPLAN_TOOLS } from "../../../apps/gameplan/tools/pack.ts";
import { gameplanWorkspace } from "../../../apps/gameplan/workspace.ts";

const count = v.object({ count: v.number() });

/** Contradictions between the rows of GamePlan, and between the rows and the ledger. */
const QUERIES = {
  dangling: `SELECT count(*) AS count FROM dependencies d
    WHERE NOT EXISTS (SELECT 1 FROM systems s WHERE s.id = source_id AND s.project_id = d.project_id)
       OR NOT EXISTS (SELECT 1 FROM systems s WHERE s.id = target_id AND s.project_id = d.project_id)`,
  cycles: `WITH RECURSIVE live AS (
      SELECT source_id AS source, target_id AS target FROM dependencies d WHERE deleted_at IS NULL
        AND EXISTS (SELECT 1 FROM systems WHERE id = source_id AND deleted_at IS NULL)
        AND EXISTS (SELECT 1 FROM systems WHERE id = target_id AND deleted_at IS NULL)
    ), reached (source, target) AS (
      SELECT source, target FROM live
      UNION SELECT reached.source, live.target FROM reached JOIN live ON live.source = reached.target
    ) SELECT count(*) AS count FROM reached WHERE source = target`,
  /** Rows of the bin that nobody put there, and others that somebody did. */
  halfBinned: `SELECT count(*) AS count FROM systems
    WHERE (deleted_at IS NULL) <> (deleted_by IS NULL)`,
  /** A change of a system raises its revision by one and writes one line of the feed. */
  wrongRevisions: `SELECT count(*) AS count FROM systems
    WHERE revision <> (SELECT count(*) FROM activity WHERE entity_id = systems.id)`,
  orphans: `SELECT count(*) AS count FROM changelog
    WHERE entity_id NOT IN (SELECT id FROM systems) AND entity_id NOT IN (SELECT id FROM projects)`,
  changes: "SELECT count(*) AS count FROM activity",
  emptied: `SELECT count(*) AS count FROM interlock_ledger
    WHERE json_extract(result, '$.value.data.removed') IS NOT NULL`,
  accepted: `SELECT count(*) AS count FROM interlock_ledger WHERE json_extract(result, '$.ok') = 1`,
} as const;

const counts = v.strictObject({
  dangling: v.number(),
  cycles: v.number(),
  halfBinned: v.number(),
  wrongRevisions: v.number(),
  orphans: v.number(),
  changes: v.number(),
  emptied: v.number(),
  accepted: v.number(),
});

const inspect = defineOperation({
  name: "chaos_inspect",
  kind: "read",
  input: v.strictObject({}),
  output: counts,
  run: (sql) =>
    ok(
      Object.fromEntries(
        Object.entries(QUERIES).map(([name, query]) => [
          name,
          sql.first(count, query)?.count ?? -1,
        ]),
      ) as v.InferOutput<typeof counts>,
    ),
});

/** GamePlan's workspace, and an operation that inspects it. */
export const chaosGameplan = defineWorkspace({
  ...gameplanWorkspace,
  operations: [...gameplanWorkspace.operations, inspect],
});

const rateLimit = { windowSeconds: 60, maxRequests: 10_000 };

const inspectTool = defineTool({
  name: "chaos__inspect",
  version: "1.0.0",
  description: "Looks for contradictions in the workspace of GamePlan.",
  input: v.strictObject({}),
  output: counts,
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: Object.keys(QUERIES) },
  capabilities: ["workspace"],
  workspace: "gameplan",
  runtime: { rateLimit },
  execute: (_args, _context, { workspace }) => workspace.call(inspect, {}),
});

function withoutRateLimit(tool: AnyToolContract): AnyToolContract {
  return { ...tool, runtime: { ...tool.runtime, rateLimit } };
}

/** GamePlan's tools without rate limits, and one that inspects their workspace. */
export const CHAOS_GAMEPLAN_TOOLS = [...GAMEPLAN_TOOLS.map(withoutRateLimit), inspectTool];

/** What `chaos__inspect` answers. */
export type Inspection = v.InferOutput<typeof counts>;
