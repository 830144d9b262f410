import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_FOLDER } from "../cli/project/folders.ts";

/** When this build began. Unit: milliseconds. */
const beganMs = Date.now();

/** Tells whether a file is newer than all of these files and folders of the repository. */
export function isFresh(file: string, sources: readonly string[]): boolean {
  return existsSync(file) && sources.every((source) => newestOf(source) < statSync(file).mtimeMs);
}

/** Dates the last file of a build to its begin: what changed meanwhile is built again. */
export function dateToBegin(file: string): void {
  utimesSync(file, beganMs / 1000, beganMs / 1000);
}

/** A folder changes with each file that comes or goes. */
function newestOf(source: string): number {
  const path = join(PACKAGE_FOLDER, source);
  if (!statSync(path).isDirectory()) return statSync(path).mtimeMs;
  const names = readdirSync(path, { recursive: true, encoding: "utf8" });
  return Math.max(...["", ...names].map((name) => statSync(join(path, name)).mtimeMs));
}
