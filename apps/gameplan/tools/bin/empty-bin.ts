import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { nameOf } from "../rows/entity-row.ts";
import type { BinItem } from "../entities/bin-item.ts";
import { listBin } from "./list-bin.ts";
import { count, rowId } from "../entities/fields.ts";
import { defineOperation } from "interlock-edge/tools";
import { IS_REACHABLE } from "../rows/member-rows.ts";
import { findProject } from "../rows/project-row.ts";
import { refuse } from "../refuse.ts";
import { removeBinned } from "./remove-rows.ts";

const SHOWN_ITEMS = 20;

export const emptyBin = defineOperation({
  name: "empty_bin",
  kind: "write",
  input: v.strictObject({ projectId: v.exactOptional(rowId) }),
  output: v.strictObject({ removed: count }),
  run(sql, { projectId }, caller) {
    const found = projectId === undefined ? ok(null) : findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const only = projectId === undefined ? {} : { projectId };
    const held = listBin.run(sql, { ...only, limit: 1 }, caller);
    if (held.ok && held.value.total === 0) return refuse("conflict", "The bin is empty.");
    const where = `project_id IN (SELECT id FROM projects WHERE ${IS_REACHABLE} AND ?3 IN ('', id))`;
    const removed = removeBinned(sql, where, [caller.tenantId, caller.authorId, projectId ?? ""]);
    caller.announce({ entity: "bin", id: projectId ?? "all" });
    return ok({ removed });
  },
});

function namesOf(items: readonly BinItem[]): string[] {
  return items.map(({ entity, name }) => `${nameOf(entity)} ${name}`);
}

export const emptyBinTool = gameplanTool(emptyBin, {
  description: "Removes everything in the bin for good.",
  service: "binService",
  mutationType: "delete",
  done: ({ removed }) => `Removed ${formatCount(removed, "deleted item")} for good`,
  risk: "CRITICAL_MUTATION",
  semantics: "irreversible_pivot",
  consent: {
    describe: ({ projectId }, { total }) => ({
      action:
        (projectId === undefined ? "Empty the whole bin" : "Empty the bin of this project") +
        (typeof total === "number" ? ` (${formatCount(total, "item")})` : ""),
      consequence: "Everything in it is removed for good. Nobody can restore it.",
    }),
    shows: ["items", "total", "emptiedAt"],
    async preview({ projectId }, read) {
      const only = projectId === undefined ? {} : { projectId };
      const found = await read(listBin, { ...only, limit: SHOWN_ITEMS });
      if (!found.ok) return undefined;
      const { items, total } = found.value;
      return { before: { items: namesOf(items), total }, after: { items: [], total: 0 } };
    },
  },
  verification: {
    delaySeconds: 5,
    expect: ({ projectId }, emptiedAt) => ({
      reference: `bins/${projectId ?? "all"}`,
      state: { items: [], emptiedAt },
    }),
    /** People may have deleted something since, so only older items count. */
    async verify({ projectId }, { state }, read) {
      const after = String(Date.parse(state["emptiedAt"] as string) + 1);
      const only = projectId === undefined ? {} : { projectId };
      const found = await read(listBin, { ...only, after, limit: SHOWN_ITEMS });
      if (!found.ok) return { kind: "unknown" };
      const { items } = found.value;
      if (items.length === 0) return { kind: "verified" };
      return { kind: "mismatch", found: { items: namesOf(items) } };
    },
  },
  isHidden: true,
});
