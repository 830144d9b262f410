import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a small share of every part of the chaos proof holds", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/chaos.ts", "--short"]);
  const parts = ["matrix", "storm", "tenant", "same-key", "subscribers", "miniflare", "wrangler"];
  for (const part of parts) {
    expect(stdout).toMatch(new RegExp(`^\\| ${part} +\\|.*\\| 0 +\\|$`, "m"));
  }
}, 240_000);
