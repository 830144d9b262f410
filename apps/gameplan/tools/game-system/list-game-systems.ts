import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { mvpCriticality, systemStatus, systemSummary } from "../entities/game-system.ts";
import { toIso } from "../iso-time.ts";
import { countRows, makePage, pageArguments, rowsOf } from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { findProject } from "../rows/project-row.ts";

const summaryRow = v.object({ ...systemSummary.entries, updatedAt: v.number() });

export const listGameSystems = defineOperation({
  name: "list_game_systems",
  kind: "read",
  input: v.strictObject({
    projectId: rowId,
    status: v.exactOptional(systemStatus),
    mvpCriticality: v.exactOptional(mvpCriticality),
    search: v.exactOptional(
      v.pipe(v.string(), v.maxLength(80), v.description("Text in the name, slug or purpose.")),
    ),
    ...pageArguments,
  }),
  output: v.strictObject({ items: v.array(systemSummary), ...pageEntries }),
  run(sql, { projectId, search, ...args }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const conditions: [text: string, value: string][] = [["project_id = ?", projectId]];
    if (args.status) conditions.push(["status = ?", args.status]);
    if (args.mvpCriticality) conditions.push(["mvp_criticality = ?", args.mvpCriticality]);
    if (search) {
      const text = "instr(lower(name || char(10) || slug || char(10) || purpose), lower(?)) > 0";
      conditions.push([text, search]);
    }
    const where = [...conditions.map(([text]) => text), "deleted_at IS NULL"].join(" AND ");
    const bindings = conditions.map(([, value]) => value);
    const rows = sql.rows(
      summaryRow,
      `SELECT id, name, slug AS systemSlug, mvp_criticality AS mvpCriticality, status,
         substr(purpose, 1, 200) AS purpose, revision, updated_at AS updatedAt
       FROM systems WHERE ${where} AND slug > ? ORDER BY slug LIMIT ?`,
      ...bindings,
      args.after ?? "",
      rowsOf(args),
    );
    return ok(
      makePage(rows, {
        page: args,
        total: countRows(sql, { table: "systems", where, bindings }),
        cursorOf: ({ systemSlug }) => systemSlug,
        show: (row) => ({ ...row, updatedAt: toIso(row.updatedAt) }),
      }),
    );
  },
});

export const listGameSystemsTool = gameplanTool(listGameSystems, {
  description:
    "Lists the game systems of a project by slug, with optional filters. Use it to find system ids.",
  service: "gameSystemService",
  done: ({ total }) => `Found ${formatCount(total, "game system")}`,
});
