import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { readPlaces } from "../board/place-systems.ts";
import { cutText } from "../cut-text.ts";
import { count, rowId } from "../entities/fields.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { refuse } from "../refuse.ts";
import { findProject } from "../rows/project-row.ts";
import { readSources } from "./read-sources.ts";

const PART_CHARS = 40_000;

export const exportData = defineOperation({
  name: "export_data",
  kind: "read",
  input: v.strictObject({
    projectId: rowId,
    part: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  }),
  output: v.strictObject({
    /** Of the whole file. Another number in another part: the project has changed meanwhile. */
    characters: count,
    parts: count,
    text: v.string(),
  }),
  run(sql, { projectId, part = 1 }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const project = found.value;
    const { nodes, edges, plans, system } = readSources(sql, caller, { project, title: "" });
    const systems = nodes.flatMap(({ systemId }) => system(systemId) ?? []);
    const places = readPlaces(
      sql,
      nodes.map(({ systemId }) => systemId),
    );
    const board = [...places].map(([systemId, place]) => ({ systemId, place }));
    const data = { project, systems, dependencies: edges, plans, board };
    const whole = JSON.stringify(data, undefined, 2);
    const texts = cutIntoParts(whole);
    const text = texts[part - 1];
    if (text === undefined) return refuse("not_found", "The document has no such part.", "/part");
    return ok({ characters: whole.length, parts: texts.length, text });
  },
});

/** Cuts a text into parts of whole characters. */
export function cutIntoParts(text: string): readonly string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== ""; rest = rest.slice(parts.at(-1)?.length)) {
    parts.push(cutText(rest, PART_CHARS));
  }
  return parts;
}

export const exportDataTool = gameplanTool(exportData, {
  description: "Answers one part of the data of a project, as JSON.",
  service: "exportService",
  done: () => "Read the data of a project",
  isHidden: true,
});
