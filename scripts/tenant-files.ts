import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, messageOf } from "./command.ts";

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
 * Fails: throws a CommandError with the file that is no JSON. Nothing else is checked here.
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
 * Reads a JSON file; undefined when there is none. Fails: throws a CommandError with the file that
 * is no JSON.
 */
export function readJsonFile(file: string): unknown {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as unknown;
  } catch (error) {
    throw new CommandError(`${file}: ${messageOf(error)}`);
  }
}
