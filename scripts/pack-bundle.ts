import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import { compileContracts } from "../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../src/contracts/check/register.ts";
import { CORE_TOOLS } from "../src/core-tools/pack.ts";
import { writeCompiled } from "../cli/project/build-deployment.ts";
import { bundleEntry, type EntryBundle } from "./wire-bundles.ts";

const ROOT = join(import.meta.dirname, "..");

/** What the entry names of GamePlan and of the workspace that keeps its data. */
const NAMED = [
  /import \{ (?:hostWorkspaces|gameplanContext|gameplanWorkspace) \} from .*;\n/g,
  /const workspaces = .*;\n/g,
  / {2}(?:workspaces|context: gameplanContext),\n/g,
  /export const \{ WorkspaceObject \} = workspaces;\n/g,
];

/** Bundles the Worker without GamePlan, as if its names were removed from the deployment. */
export function bundleWithoutGamePlan(): Promise<EntryBundle> {
  return bundleEntry(withoutGamePlan);
}

const withoutGamePlan: Plugin = {
  name: "without-gameplan",
  setup(bundler) {
    bundler.onLoad({ filter: /\/src\/index\.ts$/ }, ({ path }) => ({
      contents: NAMED.reduce(
        (text, named) => text.replaceAll(named, ""),
        readFileSync(path, "utf8"),
      ),
      loader: "ts",
    }));
    bundler.onLoad({ filter: /\/src\/tools\/index\.ts$/ }, () => ({
      contents: 'export { CORE_TOOLS as TOOLS } from "../core-tools/pack.ts";',
      resolveDir: join(ROOT, "src/tools"),
      loader: "ts",
    }));
    bundler.onLoad({ filter: /\/\.interlock\/contracts\.js$/ }, () => {
      return { contents: writeCompiled(compileContracts(registerContracts(CORE_TOOLS))) };
    });
  },
};
