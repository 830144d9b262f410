import * as v from "valibot";
import { count, nameText, person, revision, rowId, time } from "./fields.ts";

export const exportKind = v.picklist(["GDD", "PRD", "other"]);

/** A document of a project as it was when somebody asked for it. Markdown. */
export const documentExport = v.strictObject({
  id: rowId,
  projectId: rowId,
  kind: exportKind,
  title: nameText,
  fileName: v.pipe(v.string(), v.maxLength(128)),
  /** Length in characters. */
  characters: count,
  /** Pieces in which `gameplan__get_export` answers it. */
  parts: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  revision,
  createdAt: time,
  createdBy: person,
});

export type DocumentExport = v.InferOutput<typeof documentExport>;
