import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { rowId } from "../entities/fields.ts";
import { gameSystem } from "../entities/game-system.ts";
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
    const parsed = parseSystem(markdown, { fileName });
    if (!parsed) return refuse("validation", "The document has no text.", "/markdown");
    const warnings = [...parsed.warnings];
    const systemSlug = freeSlug(sql, projectId, parsed.system.systemSlug);
    if (systemSlug === undefined) return refuse("conflict", "Too many systems have this name.");
    if (systemSlug !== parsed.system.systemSlug) {
      warnings.push("The short name is taken: it got a number.");
    }
    const system = { ...parsed.system, systemSlug };
    const added = addSystem(sql, caller, { projectId, system, verb: "Imported" });
    return added.ok ? ok({ system: added.value, warnings }) : added;
  },
});

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
    "Creates a game system from a Markdown document. Headings such as Purpose, Mechanics or Open Questions become fields; the rest becomes implementation notes.",
  service: "gameSystemService",
  mutationType: "create",
  done: ({ system: { name } }) => `Imported game system "${name}"`,
  undo: {
    tool: "discard",
    args: ({ system }) => rowArgs("system", system),
  },
  maxArgumentsBytes: 131_072,
});
