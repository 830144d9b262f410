import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_FOLDER } from "../cli/project/folders.ts";

const TARGET = join(PACKAGE_FOLDER, "dist/package");
/** Files that the command `interlock` reads, besides its own code. */
const RESOURCES = ["cli/contracts/test/observation.schema.json", "cli/development/switcher.js"];

main();

/** Compiles what the npm package holds: the modules that authors import, and `interlock`. */
function main(): void {
  rmSync(TARGET, { recursive: true, force: true });
  const tsc = join(PACKAGE_FOLDER, "node_modules/typescript/bin/tsc");
  const options = { cwd: PACKAGE_FOLDER, stdio: "inherit" } as const;
  // `check:lint` checks the types.
  execFileSync(process.execPath, [tsc, "-p", "tsconfig.package.json", "--noCheck"], options);
  for (const file of RESOURCES) cpSync(join(PACKAGE_FOLDER, file), join(TARGET, file));
}
