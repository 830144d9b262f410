import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { rowId } from "../entities/fields.ts";
import { scopeCheck } from "../entities/version-plan.ts";
import { defineOperation } from "interlock-edge/tools";
import { findProject } from "../rows/project-row.ts";
import { checkScope, checkSystemIds } from "./check-scope.ts";

/** The systems of one plan. */
export const planSystemIds = v.pipe(v.array(rowId), v.minLength(1), v.maxLength(150));

export const validateVersionScope = defineOperation({
  name: "validate_version_scope",
  kind: "read",
  input: v.strictObject({ projectId: rowId, systemIds: planSystemIds }),
  output: v.strictObject({ scope: scopeCheck }),
  run(sql, { projectId, systemIds }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const { scope, nodes } = checkScope(sql, projectId, systemIds);
    const known = checkSystemIds(systemIds, nodes);
    return known.ok ? ok({ scope }) : known;
  },
});

export const validateVersionScopeTool = gameplanTool(validateVersionScope, {
  description:
    "Checks whether a set of systems holds everything that its systems require, and names what is missing.",
  service: "versionPlanService",
  done: ({ scope: { valid, missingTotal } }) =>
    valid ? "The scope is complete" : `The scope lacks ${formatCount(missingTotal, "system")}`,
  maxArgumentsBytes: 16_384,
});
