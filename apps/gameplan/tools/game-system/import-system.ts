import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { rowId } from "../entities/fields.ts";
import { gameSystem } from "../entities/game-system.ts";
import { addDependency } from "../dependency/add-dependency.ts";
import { createLinkFinder } from "../markdown/find-links.ts";
import { parseSystem } from "../markdown/parse-system.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { rowArgs } from "../row-args.ts";
import { addSystem, isSlugTaken } from "./add-system.ts";

export const importSystem = defineOperation({
  name: "import_system_from_markdown",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    markdown: v.pipe(v.string(), v.maxLength(24_000), v.description("The whole document.")),
    fileName: v.exactOptional(v.pipe(v.string(), v.maxLength(200))),
  }),
  output: v.strictObject({
    system: gameSystem,
    /** What was not understood, cut or renamed. */
    warnings: v.array(v.string()),
  }),
  run(sql, { projectId, markdown, fileName }, caller) {
    const links = createLinkFinder(() => readNames(sql, projectId));
    const parsed = parseSystem(markdown, { fileName, takeLink: links.take });
    if (!parsed) return refuse("validation", "The document has no text.", "/markdown");
    const warnings = [...parsed.warnings, ...links.warnings];
    const systemSlug = freeSlug(sql, projectId, parsed.system.systemSlug);
    if (systemSlug === undefined) return refuse("conflict", "Too many systems have this name.");
    if (systemSlug !== parsed.system.systemSlug) {
      warnings.push("The short name is taken: it gets a number.");
    }
    const system = { ...parsed.system, systemSlug };
    const added = addSystem(sql, caller, {
      projectId,
      system,
      verb: "Imported",
      addParts(sourceSystemId) {
        for (const { target, type } of links.found) {
          const link = { sourceSystemId, targetSystemId: target.id, type };
          const linked = addDependency.run(sql, link, caller);
          if (!linked.ok) return linked;
        }
        return ok(null);
      },
    });
    if (!added.ok) return added;
    return ok({ system: added.value, warnings });
  },
});

function readNames(sql: WorkspaceReads, projectId: string) {
  return sql.rows(
    v.object({ id: v.string(), name: v.string(), slug: v.string() }),
    "SELECT id, name, slug FROM systems WHERE project_id = ? AND deleted_at IS NULL",
    projectId,
  );
}

const MOST_ATTEMPTS = 50;

/** Finds a slug that no system has: the wanted one, or the first free of `-2`, `-3` and so on. */
function freeSlug(sql: WorkspaceReads, projectId: string, wanted: string): string | undefined {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const ending = attempt === 1 ? "" : `-${attempt}`;
    const slug = wanted.slice(0, 64 - ending.length) + ending;
    if (!isSlugTaken(sql, projectId, slug)) return slug;
  }
  return undefined;
}

export const importSystemTool = gameplanTool(importSystem, {
  description:
    "Creates a game system from a Markdown document. Headings such as Purpose or Mechanics become fields, and Depends on dependencies; the rest becomes implementation notes.",
  service: "gameSystemService",
  mutationType: "create",
  done: ({ system: { name } }) => `Imported game system "${name}"`,
  undo: {
    tool: "discard",
    args: ({ system }) => rowArgs("system", system),
  },
  maxArgumentsBytes: 131_072,
});
