import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "../command.ts";

/** The folder of this package: of the repository, or of the package in `node_modules`. */
export const PACKAGE_FOLDER = findUpwards(import.meta.dirname, "package.json") ?? "/";

/** The folder of the deployment that a command works on: the current one. */
export function projectFolder(): string {
  const folder = process.cwd();
  if (existsSync(join(folder, "wrangler.toml"))) return folder;
  throw new CommandError(
    `There is no wrangler.toml in ${folder}. Run the command in the folder of a deployment, ` +
      "or make one with: interlock new NAME",
  );
}

/** What the build makes of a deployment. It is not committed. */
export function outputFolder(project: string): string {
  return join(project, ".interlock");
}

/** The start script of the project's wrangler. Fails: throws a CommandError without one. */
export function wranglerScript(project: string): string {
  const script = findUpwards(project, "node_modules/wrangler/bin/wrangler.js");
  if (script !== undefined) return join(script, "node_modules/wrangler/bin/wrangler.js");
  throw new CommandError("wrangler is not installed. Run: npm install --save-dev wrangler");
}

/** The nearest folder, from here upwards, that holds a file. */
function findUpwards(start: string, file: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, file))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}
