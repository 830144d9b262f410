import { execFile } from "node:child_process";
import { expect, test } from "vitest";

const PARTS = [
  "matrix",
  "storm",
  "tenant",
  "change-over",
  "undo",
  "workspaces",
  "sagas",
  "bin",
  "same-key",
  "conversations",
  "subscribers",
  "miniflare",
  "wrangler",
  "wires",
  "repeats",
];

test("a small share of every part of the chaos proof holds", async () => {
  const printed = await printedBy(["scripts/chaos.ts", "--short"]);
  for (const part of PARTS) {
    expect(printed).toMatch(new RegExp(`^\\| ${part} +\\|.*\\| 0 +\\|$`, "m"));
  }
}, 240_000);

/** Runs a script to its end, and returns all that it printed, also when it failed. */
function printedBy(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve(`${stdout}${stderr}${error ? `\n${error.message}` : ""}`);
    });
  });
}
