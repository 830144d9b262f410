import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const PARTS = [
  "src",
  "durable-objects",
  "apps",
  "package.json",
  "tsconfig.json",
  "wrangler.toml",
] as const;

/**
 * Copies what a deployment of this repository needs, and more parts of it, so that a test can
 * change files. Contract: returns the folder; the caller removes it.
 */
export function copyRepository(...more: readonly string[]): string {
  const copy = mkdtempSync(join(tmpdir(), "interlock-copy-"));
  for (const part of [...PARTS, ...more]) copyPart(part, copy);
  buildOnlyDeployment(copy);
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/**
 * Leaves the pages and the document of the API out of the build. They take most of its time, and a
 * copy has those of this repository or none.
 */
function buildOnlyDeployment(copy: string): void {
  const file = join(copy, "package.json");
  const own = JSON.parse(readFileSync(file, "utf8")) as { scripts: Record<string, string> };
  own.scripts["build"] = "node cli/interlock.ts build";
  writeFileSync(file, JSON.stringify(own));
}

/** Copies a file or folder of this repository, named from its root, into a copy of it. */
export function copyPart(part: string, copy: string): void {
  cpSync(join(ROOT, part), join(copy, part), { recursive: true });
}

const TOOLS_ALONE = `
import { DEPLOYMENT_OPTIONS } from "./protocol/deployment-options.ts";
import { TOOLS } from "./tools/index.ts";
export default { [DEPLOYMENT_OPTIONS]: { tools: TOOLS } };
`;

/**
 * Leaves everything but the tools out of the entry of a copy, for commands that read only those:
 * most of a command's time is the bundle of its deployment.
 */
export function keepOnlyTools(copy: string): void {
  writeFileSync(join(copy, "src/index.ts"), TOOLS_ALONE);
}
