import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runCommand } from "../shared/command-process.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Below the repository, so that valibot and vitest are those of the repository. */
const FOLDER = join(ROOT, "dist/templates-test");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

/** What the package exports, as sources of this repository. */
const PATHS = {
  "interlock-edge": [join(ROOT, "src/exports/index.ts")],
  "interlock-edge/tools": [join(ROOT, "src/exports/tools.ts")],
  "interlock-edge/testing": [join(ROOT, "src/testing/index.ts")],
  "interlock-edge/wires/*": [join(ROOT, "src/wire/*/wire.ts")],
};

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/** Makes a project, as an author does, with a tool of each effect and a workspace. */
async function makeProject(template: string): Promise<string> {
  const interlock = async (cwd: string, ...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await runCommand(args, cwd);
    expect([exitCode, stderr]).toEqual([0, ""]);
  };
  await interlock(FOLDER, "new", template, "--template", template);
  const project = join(FOLDER, template);
  for (const effect of ["read_only", "state_change", "external_side_effect"]) {
    await interlock(project, "new", "tool", "extra", `try_${effect}`, "--effect", effect);
  }
  await interlock(project, "new", "workspace", "shelf");
  mkdirSync(join(project, ".interlock"));
  writeFileSync(join(project, ".interlock/contracts.js"), "export const COMPILED = undefined;\n");
  writeFileSync(
    join(project, ".interlock/contracts.d.ts"),
    "export declare const COMPILED: unknown;\n",
  );
  return project;
}

for (const template of ["minimal", "desk"]) {
  const project = await makeProject(template);

  test(`the template ${template} compiles as strictly as its own settings ask`, () => {
    const settings = join(project, "tsconfig.here.json");
    writeFileSync(
      settings,
      JSON.stringify({ extends: "./tsconfig.json", compilerOptions: { paths: PATHS } }),
    );
    const { stdout } = spawnSync(process.execPath, [TSC, "-p", settings], { encoding: "utf8" });
    expect(stdout).toBe("");
  });

  test(`the policy of ${template} says what a model may do after text of others`, () => {
    const policy: unknown = JSON.parse(readFileSync(join(project, "tenant/policy.json"), "utf8"));
    expect(policy).toHaveProperty("dataFlow.afterUntrusted.0.decision", "ask");
  });

  describe(`the template ${template}`, async () => {
    pointAtSources(project);
    for (const file of globSync("test/*.test.ts", { cwd: project })) {
      await import(join(project, file));
    }
  });
}

/** Replaces the name of the package by files of the repository, which vitest can load. */
function pointAtSources(project: string): void {
  for (const file of globSync("{src,test}/**/*.ts", { cwd: project })) {
    const text = readFileSync(join(project, file), "utf8").replace(
      /"(interlock-edge\/(?:tools|testing))"/g,
      (_all, name: keyof typeof PATHS) => JSON.stringify(PATHS[name][0]),
    );
    writeFileSync(join(project, file), text);
  }
}
