import { expect, test } from "vitest";
import { loadDeployment } from "../../cli/project/load-deployment.ts";
import { ProjectFolder } from "../shared/project-folder.ts";

/** Makes a project whose entry imports a module with this text. */
function projectWith(module: string): ProjectFolder {
  const project = new ProjectFolder();
  project.write("wrangler.toml", 'main = "src/index.ts"\n');
  project.write("src/index.ts", 'export * from "./tool.ts";\nexport default {};\n');
  project.write("src/tool.ts", module);
  return project;
}

/** Loads the project; answers why that failed. */
async function refusalOf(module: string): Promise<unknown> {
  using project = projectWith(module);
  const refusal = await loadDeployment(project.path).catch((error: unknown) => error);
  return refusal instanceof Error ? refusal.message : refusal;
}

const CALLS = [
  ["setTimeout", "setTimeout(() => 1, 5)"],
  ["setInterval", "setInterval(() => 1, 5)"],
  ["fetch", 'fetch("https://example.test")'],
  ["crypto.randomUUID", "crypto.randomUUID()"],
  ["crypto.getRandomValues", "crypto.getRandomValues(new Uint8Array(4))"],
] as const;

test.each(CALLS)("a module that calls %s at its top level is refused", async (name, call) => {
  expect(await refusalOf(`\nexport const made = ${call};\n`)).toMatch(
    new RegExp(
      `^Error: ${name}\\(\\) at the top level of a module: .*\\n +at .*src/tool.ts:2:\\d+`,
    ),
  );
});

test("what a module throws is said with its place, and with no frame of the loader", async () => {
  using project = projectWith(
    'const read = () => {\n  throw new Error("no table");\n};\nread();\n',
  );
  const { stderr } = await project.run(["build"]);
  const frames = "    at read (/src/tool.ts:2:9)\n    at <anonymous> (/src/tool.ts:4:1)";
  expect(stderr.replaceAll(project.path, "").trim()).toBe(`Error: no table\n${frames}`);
});

test("functions may call them, and commands may then call the functions", async () => {
  const calls = CALLS.map(([, call], nth) => `export const call${nth} = () => ${call};\n`);
  const later =
    'Promise.resolve().then(() => Reflect.set(globalThis, "later", crypto.randomUUID()));';
  const refused = await refusalOf(`${calls.join("")}${later}`);
  expect(refused).toMatch(/is not the worker of defineDeployment/);
  await expect.poll(() => Reflect.get(globalThis, "later") as unknown).toMatch(/^[0-9a-f-]{36}$/);
});
