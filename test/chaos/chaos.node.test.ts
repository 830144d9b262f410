import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a small share of every part of the chaos proof holds", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/chaos.ts", "--short"]);
  for (const part of ["matrix", "storm", "same-key", "subscribers", "miniflare", "wrangler"]) {
    expect(stdout).toMatch(new RegExp(`^\\| ${part} +\\|.*\\| 0 +\\|$`, "m"));
  }
}, 240_000);
