import type { WorkspaceDefinition } from "interlock-edge/tools";
import type { EntityName } from "../entities/activity.ts";
import { EVERYBODY } from "../entities/member.ts";
import { findEntity, TABLES } from "./entity-row.ts";

/** Who is not in a project hears nothing of it, but that they were let in or removed. */
export const mayHear: NonNullable<WorkspaceDefinition["mayHear"]> = (
  sql,
  { entity, id },
  reader,
) => {
  if (entity === "member") return id === EVERYBODY || id === reader.authorId;
  if (entity === "bin" && id === "all") return true;
  // A board and a bin are those of a project.
  const known = Object.hasOwn(TABLES, entity) ? (entity as EntityName) : "project";
  return findEntity(sql, reader, { entity: known, id }).ok;
};
