import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, messageOf } from "./command.ts";

/** The documents of a tenant that a project keeps as files, in its folder `tenant`. */
export interface TenantFiles {
  /** `tenant/policy.json`. */
  readonly policy: unknown;
  /** `tenant/assistants/<id>.json` by id. */
  readonly assistants: ReadonlyMap<string, unknown>;
}

/**
 * Reads the tenant's documents. A document that has no file is undefined, or not in the map.
 * Fails: throws a CommandError with the file that is no JSON. Only the deployment checks the rest.
 */
export function readTenantFiles(project: string): TenantFiles {
  const folder = join(project, "tenant");
  const policyFile = join(folder, "policy.json");
  return {
    policy: existsSync(policyFile) ? readDocument(policyFile) : undefined,
    assistants: readDocuments(join(folder, "assistants")),
  };
}

function readDocuments(folder: string): ReadonlyMap<string, unknown> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return new Map(
    files
      .toSorted()
      .map((name) => [name.slice(0, -".json".length), readDocument(join(folder, name))]),
  );
}

function readDocument(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as unknown;
  } catch (error) {
    throw new CommandError(`${file}: ${messageOf(error)}`);
  }
}
