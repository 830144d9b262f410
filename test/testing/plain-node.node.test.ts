import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const scratch = mkdtempSync(join(tmpdir(), "interlock-testing-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Node 20, the oldest that authors may have; without it, the Node of the tests. */
function findOldNode(): string {
  for (const path of ["/usr/bin/node", "/usr/local/bin/node"]) {
    try {
      const version = execFileSync(path, ["--version"], { encoding: "utf8" });
      if (version.startsWith("v20.")) return path;
    } catch {
      // It is not installed there.
    }
  }
  return process.execPath;
}

const AUTHORS_TEST = `
import test from "node:test";
import assert from "node:assert/strict";
import { call, say, scriptedModel, startRun } from "./src/testing/index.ts";
import { CONNECTIONS, DESK_POLICY, PAID, refund } from "./test/testing/desk-tools.ts";
import { person } from "./src/testing/run/person.ts";

test("a refund runs in plain Node", async () => {
  const run = await startRun({
    tools: [refund],
    policy: { ...DESK_POLICY, allowedTools: ["desk__refund"] },
    principal: person("ann", { scopes: ["desk:refund"] }),
    connections: CONNECTIONS,
    http: [{ ...PAID, response: [{ status: 503 }, PAID.response] }],
    model: scriptedModel([call("desk__refund", { ticket: 7, amount: 40 }), say("Refunded.")]),
  });
  await run.approve({ by: "bob", roles: ["lead"] });
  await run.approve({ by: "eve", roles: ["lead"] });
  assert.equal(run.text, "Refunded.");
  assert.deepEqual(run.calls[0].data, { receipt: "r-7" });
  assert.equal(run.requests.length, 2);
});
`;

test("the package for tests loads and runs in plain Node 20, from one bundle", async () => {
  const outfile = join(scratch, "authors.test.mjs");
  const { metafile } = await build({
    stdin: { contents: AUTHORS_TEST, resolveDir: ROOT, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    metafile: true,
    logLevel: "silent",
  });
  const files = Object.keys(metafile.inputs);
  expect(files).toContain("src/testing/run/start-run.ts");
  expect(files.filter((file) => /^src\/(?:compose|http\/app|index)/.test(file))).toEqual([]);
  const printed = execFileSync(findOldNode(), ["--test", outfile], { encoding: "utf8" });
  expect(printed).toMatch(/# pass 1\n|pass 1\n/);
});
