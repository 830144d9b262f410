import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { bundleEntry } from "../../scripts/bundle-entry.ts";

/** Texts that only the code of workspaces has. */
const TRACES = ["interlock_ledger", "workspace_reset", "/v1/workspaces/:name/:id/changes"];

async function bundle(hosts: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "interlock-bundle-"));
  try {
    const entry = join(folder, "index.ts");
    const from = JSON.stringify(resolve("src/exports/index.ts"));
    writeFileSync(
      entry,
      `import { defineDeployment, hostWorkspaces } from ${from};
       const wires = { models: [], clients: [] } as never;
       export default defineDeployment({ tools: [], compiled: {}, wires, ${hosts} }).worker;`,
    );
    return await bundleEntry(entry, { minify: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a deployment without workspaces carries none of their code", async () => {
  const [without, hosting] = [await bundle(""), await bundle("workspaces: hostWorkspaces([])")];
  expect(TRACES.filter((trace) => without.includes(trace))).toEqual([]);
  expect(TRACES.filter((trace) => hosting.includes(trace))).toEqual(TRACES);
});
