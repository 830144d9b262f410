import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { outputFolder, PACKAGE_FOLDER } from "../cli/project/folders.ts";
import { dateToBegin, isFresh } from "./fresh.ts";

/** All that the deployment of this repository is built from, and what builds it. */
const SOURCES = [
  "src",
  "durable-objects",
  "apps",
  "cli",
  "dist/public",
  "wrangler.toml",
  "package-lock.json",
];
/** Exists only after a build that refused nothing. */
const BUILT = join(outputFolder(PACKAGE_FOLDER), "built");

await main();

/** Runs `interlock build` in this repository. Contract: only when one of the sources is newer. */
async function main(): Promise<void> {
  if (isFresh(BUILT, SOURCES)) return;
  rmSync(BUILT, { force: true });
  // Loaded only here, because it takes most of the time of a build that finds nothing new.
  const { runCommand } = await import("../cli/run-command.ts");
  await runCommand(["build"]);
  if (process.exitCode) return;
  writeFileSync(BUILT, "");
  dateToBegin(BUILT);
}
