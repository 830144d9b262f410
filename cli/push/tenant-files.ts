import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, messageOf } from "../command.ts";
import { lineOf } from "./json-line.ts";

/** The documents of a tenant that a project keeps as files, in its folder `tenant`. */
export interface TenantFiles {
  /** `tenant/policy.json`. */
  readonly policy: unknown;
  /** `tenant/assistants/<id>.json` by id. */
  readonly assistants: ReadonlyMap<string, unknown>;
  /** `tenant/connections/<id>.json` by id. Each names the variable of its secret. */
  readonly connections: ReadonlyMap<string, unknown>;
  /** `tenant/providers/<id>.json` by id. Each names the variable of its key. */
  readonly providers: ReadonlyMap<string, unknown>;
}

/**
 * Reads the tenant's documents. A document that has no file is undefined, or not in the map.
 * Fails: throws a CommandError with the file and the line that is no JSON. Nothing else is checked
 * here.
 */
export function readTenantFiles(project: string): TenantFiles {
  const folder = join(project, "tenant");
  return {
    policy: readJsonFile(join(folder, "policy.json")),
    assistants: readDocuments(join(folder, "assistants")),
    connections: readDocuments(join(folder, "connections")),
    providers: readDocuments(join(folder, "providers")),
  };
}

function readDocuments(folder: string): ReadonlyMap<string, unknown> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return new Map(
    files
      .toSorted()
      .map((name) => [name.slice(0, -".json".length), readJsonFile(join(folder, name))]),
  );
}

/**
 * Reads a JSON file; undefined when there is none. Fails: throws a CommandError with the file and
 * the line that is no JSON.
 */
export function readJsonFile(file: string): unknown {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CommandError(`${file}:${findWrongLine(text)}: ${messageOf(error)}`);
  }
}

/** Names the line of a field: `tenant/policy.json:3`. Without the file, its name alone. */
export function placeOf(project: string, key: string, pointer: string): string {
  const name = `tenant/${key}.json`;
  const file = join(project, name);
  return existsSync(file) ? `${name}:${lineOf(readFileSync(file, "utf8"), pointer)}` : name;
}

/** Finds the line of the first error of a text that is no JSON. It counts from 1. */
function findWrongLine(text: string): number {
  const lines = text.split("\n");
  const at = lines.findIndex((_, last) => cannotGoOn(`${lines.slice(0, last + 1).join("\n")}\n`));
  return at < 0 ? lines.length : at + 1;
}

/** Tells whether no text after this one makes JSON of both. Not every message has a position. */
function cannotGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const message = messageOf(error);
    if (message.includes("control character")) return true;
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    return position === undefined
      ? !message.startsWith("Unexpected end")
      : Number(position) < text.trimEnd().length;
  }
}
