import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import { sampleOfGroups } from "../shared/sample.ts";

/** Every part, and what it breaks. A sample has parts of each kind. */
const PARTS = [
  ["matrix", "runs"],
  ["storm", "runs"],
  ["repeats", "runs"],
  ["same-key", "runs"],
  ["conversations", "readers"],
  ["subscribers", "readers"],
  ["tenant", "tenants"],
  ["change-over", "tenants"],
  ["undo", "workspaces"],
  ["workspaces", "workspaces"],
  ["sagas", "workspaces"],
  ["bin", "workspaces"],
  ["miniflare", "processes"],
  ["wrangler", "processes"],
  ["wires", "processes"],
] as const;
const SAMPLE = sampleOfGroups(PARTS, ([, broken]) => broken, 4).map(([part]) => part);

test("a small share of the chaos proof holds, of one part of each kind or of all", async () => {
  const only = SAMPLE.flatMap((part) => ["--only", part]);
  const printed = await printedBy(["scripts/chaos.ts", "--short", ...only]);
  for (const part of SAMPLE) {
    expect(printed).toMatch(new RegExp(`^\\| ${part} +\\|.*\\| 0 +\\|$`, "m"));
  }
});

/** Runs a script to its end, and returns all that it printed, also when it failed. */
function printedBy(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve(`${stdout}${stderr}${error ? `\n${error.message}` : ""}`);
    });
  });
}
