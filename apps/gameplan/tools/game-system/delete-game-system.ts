import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { verbOf, listOrNone, nameOr } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { IN_BIN } from "../bin/remove-rows.ts";
import { putIntoBin } from "../bin/put-into-bin.ts";
import { binItem } from "../entities/bin-item.ts";
import { count, nameText, readRevision, rowId } from "../entities/fields.ts";
import { planStatus, versionLabel } from "../entities/version-plan.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { findSystem } from "../rows/system-row.ts";
import { readLinks } from "./get-game-system.ts";
import { TAKE_FROM_BIN } from "../row-args.ts";

/** A plan that holds a system. */
export const touchedPlan = v.strictObject({
  planId: rowId,
  version: versionLabel,
  status: planStatus,
});

/** Reads the plans that hold a system, newest first, at most 50. */
export function readPlansOf(
  sql: WorkspaceReads,
  systemId: string,
): v.InferOutput<typeof touchedPlan>[] {
  const rows = sql.rows(
    v.object(touchedPlan.entries),
    `SELECT p.id AS planId, p.version, p.status FROM plan_systems s JOIN plans p ON p.id = s.plan_id
     WHERE s.system_id = ? AND p.deleted_at IS NULL ORDER BY p.seq DESC LIMIT 50`,
    systemId,
  );
  return [...rows];
}

export const deleteGameSystem = defineOperation({
  name: "delete_game_system",
  kind: "write",
  input: v.strictObject({ systemId: rowId, revision: readRevision }),
  output: v.strictObject({ binItem, dependencies: count, plans: v.array(touchedPlan) }),
  run(sql, { systemId, ...expected }, caller) {
    const dependencies =
      readLinks(sql, systemId, "source").length + readLinks(sql, systemId, "target").length;
    const plans = readPlansOf(sql, systemId);
    const binned = putIntoBin(sql, caller, { entity: "system", id: systemId, ...expected });
    return binned.ok ? ok({ binItem: binned.value, dependencies, plans }) : binned;
  },
});

const MOST_NAMES = 20;

/** Reads what a deletion of a system takes away, for the people who decide. */
export const previewSystemDeletion = defineOperation({
  name: "preview_system_deletion",
  kind: "read",
  input: v.strictObject({ systemId: rowId }),
  output: v.strictObject({
    system: nameText,
    /** For example `requires Movement` and `required by Loot`. */
    dependencies: v.array(v.string()),
    dependenciesTotal: count,
    plans: v.array(v.string()),
  }),
  run(sql, { systemId }, caller) {
    const found = findSystem(sql, caller, { id: systemId });
    if (!found.ok) return found;
    const ahead = readLinks(sql, systemId, "source").map(
      ({ type, name }) => `${verbOf(type)} ${name}`,
    );
    const behind = readLinks(sql, systemId, "target").map(
      ({ type, name }) => `${name} ${verbOf(type)} it`,
    );
    const dependencies = [...behind, ...ahead];
    return ok({
      system: found.value.name,
      dependencies: dependencies.slice(0, MOST_NAMES),
      dependenciesTotal: dependencies.length,
      plans: readPlansOf(sql, systemId).map(({ version, status }) => `${version} (${status})`),
    });
  },
});

export const deleteGameSystemTool = gameplanTool(deleteGameSystem, {
  description:
    "Deletes a game system and its dependencies. A person approves it, and can restore it for 30 days. Use get_impact_analysis before.",
  service: "gameSystemService",
  mutationType: "delete",
  done: ({ binItem: { name } }) => `Deleted game system "${name}"`,
  risk: "MEDIUM_RISK_WRITE",
  consent: {
    describe: ({ systemId }, { system }) => ({
      action: `Delete game system ${nameOr(system, systemId)}`,
      consequence:
        "The system goes into the bin, and its dependencies go with it. Drafts that hold it cannot be finalized. It can be restored for 30 days.",
    }),
    shows: ["system", "dependencies", "dependenciesTotal", "plans", "bin"],
    async preview({ systemId }, read) {
      const found = await read(previewSystemDeletion, { systemId });
      if (!found.ok) return undefined;
      const { dependencies, plans, ...facts } = found.value;
      const before = {
        ...facts,
        dependencies: listOrNone(dependencies),
        plans: listOrNone(plans),
      };
      return { before, after: IN_BIN };
    },
  },
  undo: TAKE_FROM_BIN,
});
