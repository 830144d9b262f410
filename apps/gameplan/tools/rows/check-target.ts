import * as v from "valibot";
import { defineOperation, ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { entityName } from "../entities/activity.ts";
import { revision, rowId } from "../entities/fields.ts";
import type { Read } from "../timed-operation.ts";
import { checkAuthor } from "./check-author.ts";
import { findEntity, findLive } from "./entity-row.ts";

/** The row that a call is about. */
export type Target = v.InferOutput<typeof targetInput>;

const targetInput = v.strictObject({
  entity: entityName,
  id: rowId,
  revision: v.exactOptional(revision),
});

/**
 * Finds the row of a call. A row in the bin passes: an earlier attempt of the same call may have
 * put it there, and the operation itself refuses every other case.
 */
export const findTarget = defineOperation({
  name: "find_target",
  kind: "read",
  input: targetInput,
  output: v.strictObject({ name: v.string() }),
  run(sql, target, caller) {
    const found = findEntity(sql, caller, target);
    if (!found.ok) return found;
    const { name, deletedAt } = found.value;
    const { entity } = target;
    const allowed = checkAuthor(sql, caller, { entity, row: found.value });
    if (!allowed.ok) return allowed;
    if (deletedAt !== null) return ok({ name });
    const live = findLive(sql, caller, target);
    return live.ok ? ok({ name }) : live;
  },
});

/** Checks that a call may change its row. Fails: not_found, stale, forbidden. */
export async function checkTarget(
  read: Read,
  target: Target | undefined,
): Promise<Result<null, ToolFailure>> {
  if (!target) return ok(null);
  const found = await read(findTarget, target);
  return found.ok ? ok(null) : found;
}
