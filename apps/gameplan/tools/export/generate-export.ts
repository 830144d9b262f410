import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { cutText, toSlug } from "../cut-text.ts";
import { documentExport, exportKind } from "../entities/document-export.ts";
import { nameText, rowId } from "../entities/fields.ts";
import { defineOperation } from "interlock-edge/tools";
import { addRow } from "../rows/add-row.ts";
import { findExport } from "../rows/export-row.ts";
import { findProject } from "../rows/project-row.ts";
import { cutIntoParts } from "./export-data.ts";
import { readSources } from "./read-sources.ts";
import { writeDocument } from "./write-document.ts";
import { rowArgs } from "../row-args.ts";

const TITLES = {
  GDD: "Game design document",
  PRD: "Product requirements",
  other: "Status report",
} as const;

/** In a sentence. */
const NAMES = { GDD: "GDD", PRD: "PRD", other: "document" } as const;

const EXCERPT_CHARS = 2_000;
const NAME_CHARS = 120;

export const generateExport = defineOperation({
  name: "generate_export",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    kind: v.pipe(
      exportKind,
      v.description("GDD: design document. PRD: requirements. other: status report."),
    ),
    title: v.exactOptional(nameText),
  }),
  output: v.strictObject({ export: documentExport, excerpt: v.string() }),
  run(sql, { projectId, kind, ...args }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const project = found.value;
    const title = args.title ?? cutText(`${project.name}: ${TITLES[kind]}`, NAME_CHARS);
    const sources = readSources(sql, caller, { project, title });
    const text = writeDocument(kind, sources);
    const parts = cutIntoParts(text);
    const id = addRow(sql, caller, {
      entity: "export",
      projectId,
      columns: {
        kind,
        title,
        file_name: `${toSlug(project.name) ?? "project"}-${kind.toLowerCase()}-${sources.date}.md`,
        characters: text.length,
        parts: parts.length,
      },
      summary: `Generated ${NAMES[kind]} "${title}"`,
    });
    parts.forEach((part, index) => {
      const query = "INSERT INTO export_parts (export_id, part, text) VALUES (?, ?, ?)";
      sql.run(query, id, index + 1, part);
    });
    const made = findExport(sql, caller, id);
    return made.ok ? ok({ export: made.value, excerpt: cutText(text, EXCERPT_CHARS) }) : made;
  },
});

export const generateExportTool = gameplanTool(generateExport, {
  description:
    "Writes a Markdown document of a project: GDD (game design document), PRD (product requirements) or other (status report). People download it from the page.",
  service: "exportService",
  done: ({ export: { kind, title } }) => `Generated ${NAMES[kind]} "${title}"`,
  undo: {
    tool: "discard",
    args: ({ export: made }) => rowArgs("export", made),
  },
});
