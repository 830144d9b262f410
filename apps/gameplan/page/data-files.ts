import { writeSystem } from "../tools/markdown/write-system.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import { listOf, objectOf, textOf } from "./read-json.ts";

/** Writes the data of a project, as `export_data` answers it. Contract: pure. */
type WriteFile = (data: JsonObject) => string;

/** A file that other programs read. */
interface DataFile {
  readonly title: string;
  readonly ending: string;
  readonly write: WriteFile;
}

export const DATA_FILES: Readonly<Record<string, DataFile>> = {
  JSON: { title: "All data as JSON", ending: "json", write: writeJson },
  CSV: { title: "Systems as CSV", ending: "csv", write: writeCsv },
  Mermaid: { title: "Graph as Mermaid", ending: "mmd", write: writeMermaid },
};

/** Reads the data of a project; empty for any other text. */
export function parseData(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Writes a system, as `get_game_system` answers it, for the import. */
export function writeSystemFile(data: JsonObject): string {
  const system = objectOf(data, "system");
  return writeSystem({
    textOf: (field) => textOf(system, field),
    dependsOn: listOf(data, "dependsOn").map((link) => {
      const [name, systemSlug] = [textOf(link, "name"), textOf(link, "systemSlug")];
      return { name, systemSlug, type: textOf(link, "type") };
    }),
  });
}

function writeJson(data: JsonObject): string {
  return `${JSON.stringify(data, undefined, 2)}\n`;
}

/** What a system is, and what nobody writes by hand. */
const LEFT_OUT: ReadonlySet<string> = new Set(["projectId", "revision", "createdBy"]);

function writeCsv(data: JsonObject): string {
  const systems = listOf(data, "systems");
  const names = namesOf(systems);
  const links = Map.groupBy(listOf(data, "dependencies"), (edge) => textOf(edge, "sourceSystemId"));
  const fields = Object.keys(systems[0] ?? {}).filter((field) => !LEFT_OUT.has(field));
  const rows = systems.map((system) => {
    const needs = (links.get(textOf(system, "id")) ?? []).map(
      (edge) => `${textOf(edge, "type")} ${names.get(textOf(edge, "targetSystemId")) ?? ""}`,
    );
    return fields.map((field) => textOf(system, field)).concat(needs.join(", "));
  });
  return [[...fields, "dependsOn"], ...rows]
    .map((cells) => `${cells.map(formatCell).join(",")}\r\n`)
    .join("");
}

function writeMermaid(data: JsonObject): string {
  const systems = listOf(data, "systems");
  const places = new Map(systems.map((system, at) => [textOf(system, "id"), `s${at + 1}`]));
  const boxes = systems.map(
    (system, at) => `  s${at + 1}["${formatLabel(textOf(system, "name"))}"]`,
  );
  const arrows = listOf(data, "dependencies").flatMap((edge) => {
    const [from, to] = ["sourceSystemId", "targetSystemId"].map((end) =>
      places.get(textOf(edge, end)),
    );
    const type = textOf(edge, "type");
    const line = type === "requires" ? "-->" : "-.->";
    return from && to ? [`  ${from} ${line}|${type}| ${to}`] : [];
  });
  return `${["graph LR", ...boxes, ...arrows].join("\n")}\n`;
}

function namesOf(systems: readonly JsonObject[]): ReadonlyMap<string, string> {
  return new Map(systems.map((system) => [textOf(system, "id"), textOf(system, "name")]));
}

/** Threat: a table program runs a cell that begins as a formula does. */
function formatCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Threat: a name ends its box and goes on as code of the graph. Mermaid reads `#34;` as a sign. */
function formatLabel(name: string): string {
  return name.replaceAll(/["#<>`\\]|\s+/g, (sign) =>
    sign.trim() === "" ? " " : `#${sign.codePointAt(0)};`,
  );
}
