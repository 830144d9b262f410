import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../shared/command-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const NODE = process.execPath;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "interlock-new-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function interlock(cwd: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await runCommand(args, cwd);
  return { status: exitCode, stdout, stderr };
}

const read = (path: string): string => readFileSync(join(folder, path), "utf8");

describe.each(["minimal", "desk"])("the template %s", (template) => {
  const name = `made-${template}`;

  beforeAll(async () => {
    const { status, stderr } = await interlock(folder, "new", name, "--template", template);
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("makes an entry of fewer than 20 lines", () => {
    expect(read(`${name}/src/index.ts`).trimEnd().split("\n").length).toBeLessThan(20);
  });

  test("leaves no placeholder, and ignores what the build makes", () => {
    for (const file of ["README.md", "wrangler.toml", "package.json"]) {
      expect(read(`${name}/${file}`)).not.toMatch(/\{\{|undefined/);
    }
    expect(read(`${name}/wrangler.toml`)).toContain(`name = "${name}"`);
    expect(read(`${name}/.gitignore`)).toContain(".interlock/");
    expect(existsSync(join(folder, name, "gitignore"))).toBe(false);
  });

  test("keeps logs, and has the section of the README that a refused deployment names", () => {
    expect(read(`${name}/wrangler.toml`)).toContain("\n[observability]\nenabled = true\n");
    const refusal = readFileSync(join(ROOT, "src/compose/worker.ts"), "utf8");
    const [, section] = /See the README, section (\w+)/.exec(refusal) ?? [];
    expect(read(`${name}/README.md`)).toContain(`\n## ${section}\n`);
  });

  test("installs this version and the toolchain that it is tested with", () => {
    const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const made = JSON.parse(read(`${name}/package.json`));
    expect(made.dependencies).toEqual({
      "interlock-edge": `^${own.version}`,
      valibot: own.dependencies.valibot,
    });
    expect(made.devDependencies.wrangler).toBe(own.devDependencies.wrangler);
    expect(Object.values(made.devDependencies)).not.toContain("*");
  });
});

test("the desk has an address in each environment, and needs https outside development", () => {
  const addresses = [...read("made-desk/wrangler.toml").matchAll(/^DESK_URL = "(.*)"$/gm)];
  expect(addresses.map(([, address]) => address)).toEqual([
    "http://127.0.0.1:8790",
    "https://desk.staging.example.com",
    "https://desk.example.com",
  ]);
});

describe("nothing is written when", () => {
  test.each([
    ["the name is no name of a Worker", ["My Desk"], 2, /is no name for a project/],
    ["the name leaves the folder", ["../desk"], 2, /is no name for a project/],
    ["there is no such template", ["a", "--template", "shop"], 2, /--template takes/],
    ["there is no such tarball", ["a", "--from", "none.tgz"], 1, /There is no file/],
    ["an option is unknown", ["a", "--colour"], 2, /Unknown option/],
    ["there is no name", [], 2, /One name is needed/],
  ] as const)("%s", async (_case, args, status, reason) => {
    const made = await interlock(folder, "new", ...args);
    expect([made.status, made.stderr]).toEqual([status, expect.stringMatching(reason)]);
    expect(existsSync(join(folder, "a"))).toBe(false);
  });

  test("the folder holds something", async () => {
    mkdirSync(join(folder, "taken"));
    writeFileSync(join(folder, "taken/mine.txt"), "mine");
    const { status, stderr } = await interlock(folder, "new", "taken");
    expect([status, stderr]).toEqual([1, expect.stringContaining("is not empty")]);
    expect(existsSync(join(folder, "taken/package.json"))).toBe(false);
  });
});

describe("interlock new tool", () => {
  let project: string;

  beforeAll(async () => {
    await interlock(folder, "new", "with-tools");
    project = join(folder, "with-tools");
  });

  const isFormatted = (): boolean => {
    const args = [join(ROOT, "node_modules/.bin/oxfmt"), "--check", "src", "test"];
    const config = ["-c", join(ROOT, ".oxfmtrc.json")];
    return spawnSync(NODE, [...args, ...config], { cwd: project }).status === 0;
  };

  test("adds a tool to a pack that exists", async () => {
    expect((await interlock(project, "new", "tool", "office", "book_room")).status).toBe(0);
    expect(read("with-tools/src/tools/office/book-room.ts")).toContain('"office__book_room"');
    expect(read("with-tools/src/tools/office/pack.ts")).toContain("[getOpeningHours, bookRoom]");
    expect(existsSync(join(project, "test/office-book-room.test.ts"))).toBe(true);
  });

  test.each(["state_change", "external_side_effect"])("adds a %s to a new pack", async (effect) => {
    const pack = effect.slice(0, 5);
    const made = await interlock(project, "new", "tool", pack, "do_it", "--effect", effect);
    expect(made.status).toBe(0);
    expect(read("with-tools/src/tools/index.ts")).toContain(`...${pack.toUpperCase()}_TOOLS`);
    expect(read(`with-tools/src/tools/${pack}/do-it.ts`)).toContain(`effect: "${effect}"`);
  });

  test("writes what the formatter would write, also when a list gets long", async () => {
    for (let index = 0; index < 8; index++) {
      expect(
        (await interlock(project, "new", "tool", "office", `a_long_name_${index}`)).status,
      ).toBe(0);
    }
    expect(isFormatted()).toBe(true);
  });

  test.each([
    ["a tool that exists", ["office", "get_opening_hours"], 1, /exists/],
    ["a pack of a package", ["core", "roll_dice"], 1, /core is the pack of a package/],
    ["a name with capitals", ["office", "bookRoom"], 2, /is no name/],
    ["a name that leaves the folder", ["..", "x"], 2, /is no name/],
    ["an id that is too long", ["office", "x".repeat(60)], 2, /over 64 characters/],
    ["an unknown effect", ["office", "x", "--effect", "none"], 2, /--effect takes/],
  ] as const)("refuses %s", async (_case, args, status, reason) => {
    const made = await interlock(project, "new", "tool", ...args);
    expect([made.status, made.stderr]).toEqual([status, expect.stringMatching(reason)]);
  });

  test("refuses a list that it cannot read, and writes nothing", async () => {
    const index = join(project, "src/tools/index.ts");
    const text = readFileSync(index, "utf8");
    writeFileSync(index, "export const OTHER = [];\n");
    const { status, stderr } = await interlock(project, "new", "tool", "fresh", "thing");
    writeFileSync(index, text);
    expect([status, stderr]).toEqual([1, expect.stringContaining("has no list")]);
    expect(existsSync(join(project, "src/tools/fresh"))).toBe(false);
  });

  test("refuses a folder without a deployment", async () => {
    const { status, stderr } = await interlock(folder, "new", "tool", "office", "x");
    expect([status, stderr]).toEqual([1, expect.stringContaining("There is no wrangler.toml")]);
  });
});

describe("interlock new workspace", () => {
  let project: string;
  const settings = (): string => read("with-workspace/wrangler.toml");
  const count = (text: string): number => settings().split(text).length - 1;

  beforeAll(async () => {
    await interlock(folder, "new", "with-workspace");
    project = join(folder, "with-workspace");
  });

  test("writes its tables, the entry, and its binding in each environment", async () => {
    const made = await interlock(project, "new", "workspace", "shelf");
    expect([made.status, made.stderr]).toEqual([0, ""]);
    expect(read("with-workspace/src/workspaces.ts")).toContain("hostWorkspaces([shelf])");
    expect(read("with-workspace/src/index.ts")).toContain("export const { WorkspaceObject }");
    for (const table of ["", "env.staging.", "env.production."]) {
      const bound = `[[${table}durable_objects.bindings]]\nname = "WORKSPACES"\n`;
      expect(count(bound)).toBe(1);
    }
    expect(count("[exports.WorkspaceObject]")).toBe(1);
    const args = [join(ROOT, "node_modules/.bin/oxfmt"), "--check", "src"];
    const config = ["-c", join(ROOT, ".oxfmtrc.json")];
    expect(spawnSync(NODE, [...args, ...config], { cwd: project }).status).toBe(0);
  });

  test("adds another one beside it, and writes nothing that is there", async () => {
    const before = settings();
    expect((await interlock(project, "new", "workspace", "tasks")).status).toBe(0);
    expect(read("with-workspace/src/workspaces.ts")).toContain("hostWorkspaces([shelf, tasks])");
    expect(settings()).toBe(before);
    expect((await interlock(project, "new", "workspace", "tasks")).stdout).toContain(
      "has everything",
    );
  });

  test("adds a binding that an environment lost", async () => {
    const file = join(project, "wrangler.toml");
    const before = settings();
    const own = '\n[[env.staging.durable_objects.bindings]]\nname = "WORKSPACES"\n';
    writeFileSync(file, before.replace(`${own}class_name = "WorkspaceObject"\n`, ""));
    const { stdout } = await interlock(project, "new", "workspace", "shelf");
    expect([stdout.split("\n")[0], settings()]).toEqual(["wrote wrangler.toml", before]);
  });

  test.each([
    ["a name with capitals", "Shelf", 2, /is no name/],
    ["a name that leaves the folder", "../x", 2, /is no name/],
    ["an entry that it cannot read", "other", 1, /src\/index\.ts does not have/],
  ] as const)("refuses %s, and writes nothing", async (_case, name, status, reason) => {
    const entry = join(project, "src/index.ts");
    const before = readFileSync(entry, "utf8");
    if (status === 1) writeFileSync(entry, "export default {};\n");
    const made = await interlock(project, "new", "workspace", name);
    writeFileSync(entry, before);
    expect([made.status, made.stderr]).toEqual([status, expect.stringMatching(reason)]);
    expect(existsSync(join(project, `src/tools/${name}`))).toBe(false);
  });
});
