import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fail, ok, type Result } from "../../../src/protocol/outcome/result.ts";
import {
  formatLock,
  parseLock,
  toLock,
  type ContractLock,
  type LockFiles,
} from "./contract-lock.ts";

/** The folder of a project's lock. An application of the project has one of its own. */
export const LOCK_NAME = "contracts.lock";
/** Failure of readLock when the project has no lock. */
export const MISSING = "is missing";
const APPLICATIONS = "apps";

/**
 * Reads the lock of a project: its own folder, and those of its applications.
 * Fails: with the reason as text; MISSING when there is none.
 */
export function readLock(
  project: string,
): Result<{ readonly files: LockFiles; readonly lock: ContractLock }, string> {
  const files = new Map<string, string>();
  const contracts = [];
  const folders = lockFolders(project).filter((folder) => existsSync(join(project, folder)));
  if (folders.length === 0) return fail(MISSING);
  for (const folder of folders) {
    const own = readFiles(join(project, folder));
    if (!own.ok) return own;
    const parsed = parseLock(own.value);
    if (!parsed.ok) return parsed;
    contracts.push(...parsed.value.values());
    for (const [path, text] of own.value) files.set(`${folder}/${path}`, text);
  }
  return ok({ files, lock: toLock(contracts) });
}

/** Formats the files of a project's lock, by their paths within the project. */
export function lockFiles(project: string, lock: ContractLock): LockFiles {
  const folders = Map.groupBy(lock, ([key]) => folderOf(project, key));
  const files = [...folders].flatMap(([folder, entries]) =>
    [...formatLock(new Map(entries))].map(([path, text]) => [`${folder}/${path}`, text] as const),
  );
  return new Map(files);
}

/** Writes the lock of a project, and removes the files that belong to no locked version. */
export function writeLock(project: string, lock: ContractLock): void {
  const files = lockFiles(project, lock);
  for (const folder of lockFolders(project)) {
    for (const path of pathsIn(join(project, folder))) {
      if (!files.has(`${folder}/${path}`)) rmSync(join(project, folder, path));
    }
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
}

/** The tools of an application are locked in its folder: `gameplan__…` in `apps/gameplan`. */
function folderOf(project: string, key: string): string {
  const [namespace = ""] = key.split("__");
  const application = `${APPLICATIONS}/${namespace}`;
  return existsSync(join(project, application)) ? `${application}/${LOCK_NAME}` : LOCK_NAME;
}

function lockFolders(project: string): readonly string[] {
  const folder = join(project, APPLICATIONS);
  const applications = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  return [LOCK_NAME, ...applications.map((name) => `${APPLICATIONS}/${name}/${LOCK_NAME}`)];
}

function readFiles(folder: string): Result<LockFiles, string> {
  try {
    return ok(
      new Map(pathsIn(folder).map((path) => [path, readFileSync(join(folder, path), "utf8")])),
    );
  } catch (error) {
    return fail(`cannot be read: ${String((error as NodeJS.ErrnoException).code)}`);
  }
}

/** The JSON files of a lock's folder, in the order of their names. */
function pathsIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".json") && statSync(join(folder, path)).isFile())
    .toSorted();
}
