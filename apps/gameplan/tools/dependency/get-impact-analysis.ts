import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { impactedSystem } from "../entities/dependency.ts";
import { count, nameText, rowId } from "../entities/fields.ts";
import { systemSlug } from "../entities/game-system.ts";
import { readPlansOf, touchedPlan } from "../game-system/delete-game-system.ts";
import { impactOf } from "../graph/dependency-graph.ts";
import { readEdgesTo, readNodesOf } from "../graph/read-graph.ts";
import { defineOperation } from "interlock-edge/tools";
import { findSystem } from "../rows/system-row.ts";
import { offsetArguments } from "./get-dependency-graph.ts";

const USUAL_SYSTEMS = 100;

export const getImpactAnalysis = defineOperation({
  name: "get_impact_analysis",
  kind: "read",
  input: v.strictObject({ systemId: rowId, ...offsetArguments }),
  output: v.strictObject({
    system: v.strictObject({ systemId: rowId, name: nameText, systemSlug }),
    /** Nearest first. */
    impacted: v.array(impactedSystem),
    total: count,
    /** Draft plans that hold the system. */
    draftPlans: v.array(touchedPlan),
    nextOffset: v.nullable(count),
  }),
  run(sql, { systemId, offset = 0, limit = USUAL_SYSTEMS }, caller) {
    const found = findSystem(sql, caller, { id: systemId });
    if (!found.ok) return found;
    const { name, projectId, systemSlug: slug } = found.value;
    const all = impactOf(readEdgesTo(sql, systemId), systemId);
    const end = offset + limit;
    const page = all.slice(offset, end);
    const read = readNodesOf(
      sql,
      projectId,
      page.map(({ systemId: id }) => id),
    );
    const nodes = new Map(read.map((node) => [node.systemId, node]));
    const impacted = page.flatMap(({ systemId: id, ...impact }) => {
      const node = nodes.get(id);
      if (!node) return [];
      const { status: _, ...shown } = node;
      return [{ ...shown, ...impact }];
    });
    return ok({
      system: { systemId, name, systemSlug: slug },
      impacted,
      total: all.length,
      draftPlans: readPlansOf(sql, systemId).filter(({ status }) => status === "draft"),
      nextOffset: end < all.length ? end : null,
    });
  },
});

export const getImpactAnalysisTool = gameplanTool(getImpactAnalysis, {
  description:
    "Lists every system that a change of one system reaches, directly or through others, and the drafts that hold it.",
  service: "dependencyService",
  done: ({ total }) => `A change reaches ${formatCount(total, "system")}`,
});
