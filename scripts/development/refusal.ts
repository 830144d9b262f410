import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the build keeps why the deployment cannot be built, during development. */
export function refusalFile(output: string): string {
  return join(output, "refusal.txt");
}

/** Reads why the last build refused the deployment; undefined when it did not. */
export function readRefusal(output: string): string | undefined {
  const file = refusalFile(output);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
