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

const TEMPLATES = ["minimal", "desk"];

for (const template of TEMPLATES) {
  const project = await makeProject(template);

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

test("the templates compile as strictly as their own settings ask", () => {
  const [own = "", ...others] = TEMPLATES.map((template) =>
    readFileSync(join(FOLDER, template, "tsconfig.json"), "utf8"),
  );
  for (const other of others) expect(other).toBe(own);
  // A program of TypeScript for both: most of its time are the types of the package.
  const { compilerOptions, include } = JSON.parse(own) as TypeScriptSettings;
  const settings = {
    compilerOptions: { ...compilerOptions, paths: PATHS },
    include: TEMPLATES.flatMap((template) => include.map((folder) => `${template}/${folder}`)),
  };
  const file = join(FOLDER, "tsconfig.json");
  writeFileSync(file, JSON.stringify(settings));
  const { status, stdout } = spawnSync(process.execPath, [TSC, "-p", file], { encoding: "utf8" });
  expect([status, stdout]).toEqual([0, ""]);
});

interface TypeScriptSettings {
  readonly compilerOptions: object;
  readonly include: readonly string[];
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
