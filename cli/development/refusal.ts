import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the build keeps why the deployment cannot be built, during development. */
export function refusalFile(output: string): string {
  return join(output, "refusal.txt");
}

/** Reads why the last build refused the deployment; undefined when it did not. */
export function readRefusal(output: string): string | undefined {
  try {
    return readFileSync(refusalFile(output), "utf8");
  } catch (error) {
    // A build that succeeds removes the file at any moment.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
