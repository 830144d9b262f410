import * as v from "valibot";
import { entityName } from "./activity.ts";
import { person, revision, rowId, time } from "./fields.ts";

/** Something deleted. It can be restored until `restorableUntil`, 30 days after its deletion. */
export const binItem = v.strictObject({
  entity: entityName,
  id: rowId,
  projectId: rowId,
  name: v.pipe(v.string(), v.maxLength(300)),
  deletedAt: time,
  deletedBy: person,
  restorableUntil: time,
  revision,
});

export type BinItem = v.InferOutput<typeof binItem>;
