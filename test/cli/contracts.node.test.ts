import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { runCommand } from "../shared/command-process.ts";
import { copyPart, copyRepository, keepOnlyTools } from "../shared/copied-repository.ts";

const ROOT = join(import.meta.dirname, "../..");
const TOOL = "src/core-tools/calculate.ts";
const LOCK = "contracts.lock";
const GAMEPLAN_LOCK = "apps/gameplan/contracts.lock";
const LOCKED = `${LOCK}/core__calculate@1.0.0.json`;
/** What a test changes; the copy gets it back after each test. */
const CHANGED = ["src/core-tools", LOCK] as const;

/** A copy of all files that the script reads, so that a test can change tools. */
let copy: string;

beforeAll(() => {
  copy = copyRepository("cli", ...CHANGED);
  keepOnlyTools(copy);
  // `npm run check` holds all tools against their lock; here a few do.
  writeFileSync(
    join(copy, "src/tools/index.ts"),
    'import { askPerson } from "../core-tools/ask-person.ts";\n' +
      'import { CORE_TOOLS } from "../core-tools/pack.ts";\n' +
      "export const TOOLS = [...CORE_TOOLS, askPerson];\n",
  );
  rmSync(join(copy, GAMEPLAN_LOCK), { recursive: true });
});

afterEach(() => {
  for (const part of CHANGED) {
    rmSync(join(copy, part), { recursive: true, force: true });
    copyPart(part, copy);
  }
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

async function contracts(...args: string[]) {
  const { exitCode, stdout, stderr } = await runCommand(["contracts", ...args], copy);
  return { status: exitCode, stdout, stderr };
}

function edit(file: string, ...changes: readonly (readonly [string, string])[]): void {
  let text = readFileSync(join(copy, file), "utf8");
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, () => to);
  }
  writeFileSync(join(copy, file), text);
}

const lock = (): string => readFileSync(join(copy, LOCKED), "utf8");
const SHORTER = ["v.maxLength(256)", "v.maxLength(99)"] as const;
const NEXT_VERSION = ['version: "1.0.0"', 'version: "2.0.0"'] as const;

test("the contracts in the code are those of the lock", async () => {
  const { status, stdout } = await contracts("check");
  expect([status, stdout]).toEqual([
    0,
    expect.stringMatching(/^contracts: as locked; tools \d+, .*\n$/),
  ]);
});

test("npm run check, and so the CI, runs it", () => {
  edit(TOOL, SHORTER);
  const { status } = spawnSync("npm", ["run", "-s", "contracts:check"], { cwd: copy });
  expect(status).toBe(1);
  expect(readFileSync(join(ROOT, "scripts/check.ts"), "utf8")).toContain('"contracts:check"');
});

test("a breaking change fails the check, which names the break, the place and the remedy", async () => {
  edit(TOOL, SHORTER);
  const { status, stdout } = await contracts("check");
  expect(status).toBe(1);
  expect(stdout).toContain("core__calculate@1.0.0:");
  expect(stdout).toContain(
    "BREAKING: /contract/affordance/input_schema/properties/expression/maxLength: " +
      "maxLength tightened, calls that were accepted may be refused: 256 -> 99",
  );
  expect(stdout).toContain("Give it a new version");
  expect(stdout).toContain("docs/contracts.md");
});

test("an update refuses a breaking change, and accepts it only with --accept-breaking", async () => {
  edit(TOOL, SHORTER);
  const before = lock();
  const refused = await contracts("update");
  expect([refused.status, lock()]).toEqual([1, before]);
  expect(refused.stdout).toContain("256 -> 99");
  const accepted = await contracts("update", "--accept-breaking");
  expect(accepted.status).toBe(0);
  expect(accepted.stdout).toContain("!!! BREAKING CHANGE ACCEPTED: core__calculate@1.0.0");
  expect((await contracts("check")).status).toBe(0);
});

test("an update forgets a tool that is gone only by its name, and never after a push", async () => {
  edit("src/core-tools/pack.ts", [", calculate]", "]"]);
  const before = lock();
  const refused = await contracts("update");
  expect([refused.status, lock()]).toEqual([1, before]);
  expect(refused.stdout).toContain("  npx interlock contracts update --forget core__calculate\n");
  const other = await contracts("update", "--forget", "core__generate_title");
  expect([other.status, lock()]).toEqual([2, before]);
  expect(other.stderr).toContain("only core__calculate@1.0.0 is gone from the code");

  mkdirSync(join(copy, "tenant/pushed"), { recursive: true });
  const pushed = await contracts("update", "--forget", "core__calculate");
  expect([pushed.status, lock()]).toEqual([2, before]);
  expect((await contracts("update")).stdout).not.toContain("--forget");
  rmSync(join(copy, "tenant"), { recursive: true });

  const { status, stdout } = await contracts("update", "--forget", "core__calculate");
  expect([status, stdout]).toEqual([
    0,
    expect.stringContaining("forgotten: core__calculate@1.0.0"),
  ]);
  expect(existsSync(join(copy, LOCKED))).toBe(false);
});

test("a new version beside the old one passes once it is locked", async () => {
  const text = readFileSync(join(copy, TOOL), "utf8");
  writeFileSync(join(copy, "src/core-tools/calculate-v1.ts"), text);
  edit(TOOL, SHORTER, NEXT_VERSION);
  edit(
    "src/core-tools/pack.ts",
    ["import", 'import { calculate as calculateV1 } from "./calculate-v1.ts";\nimport'],
    ["CORE_TOOLS = [", "CORE_TOOLS = [calculateV1, "],
  );
  const before = await contracts("check");
  expect(before.status).toBe(1);
  expect(before.stdout).toContain("core__calculate@2.0.0: new, not in the lock\n  since 1.0.0:");
  expect(before.stdout).toContain("run npx interlock contracts update");
  expect((await contracts("update")).status).toBe(0);
  expect((await contracts("check")).status).toBe(0);
  expect(existsSync(join(copy, LOCKED))).toBe(true);
});

test("a new version in place of the old one breaks", async () => {
  edit(TOOL, NEXT_VERSION);
  const { status, stdout } = await contracts("check");
  expect(status).toBe(1);
  expect(stdout).toContain("core__calculate@1.0.0: BREAKING: is gone from the code");
  expect((await contracts("update")).status).toBe(1);
});

test("a compatible change needs an update of the lock", async () => {
  edit(TOOL, ["v.maxLength(256)", "v.maxLength(512)"]);
  const { status, stdout } = await contracts("check");
  expect(status).toBe(1);
  expect(stdout).not.toContain("BREAKING");
  expect(stdout).toContain("run npx interlock contracts update");
  expect((await contracts("update")).status).toBe(0);
  expect((await contracts("check")).status).toBe(0);
});

test("a lock in another format, or with a file that no tool names, is out of date", async () => {
  writeFileSync(join(copy, LOCKED), JSON.stringify(JSON.parse(lock())));
  expect((await contracts("check")).status).toBe(1);
  expect((await contracts("update")).status).toBe(0);
  const part = join(copy, LOCK, "parts/0123456789abcdef.json");
  writeFileSync(part, "{}\n");
  expect((await contracts("check")).status).toBe(1);
  expect((await contracts("update")).status).toBe(0);
  expect([(await contracts("check")).status, existsSync(part)]).toEqual([0, false]);
});

test("a part that is missing or was changed stops the check", async () => {
  const [hash = ""] = /(?<="error_contract": \{\s+"\$part": ")\w+/.exec(lock()) ?? [];
  const part = join(copy, LOCK, `parts/${hash}.json`);
  writeFileSync(part, readFileSync(part, "utf8").replace("TIMEOUT", "UNKNOWN_ERROR"));
  expect((await contracts("check")).stderr).toContain(
    `names the part ${hash}, whose text was changed`,
  );
  rmSync(part);
  const { status, stderr } = await contracts("check");
  expect([status, stderr]).toEqual([2, expect.stringContaining(`${hash}, which is missing`)]);
});

test("a lock that cannot be parsed stops check and update, and is never overwritten", async () => {
  writeFileSync(join(copy, LOCKED), "<<<<<<< HEAD");
  for (const args of [["check"], ["update"], ["update", "--accept-breaking"]]) {
    const { status, stdout, stderr } = await contracts(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("contracts.lock core__calculate@1.0.0.json is not JSON");
  }
  expect(lock()).toBe("<<<<<<< HEAD");
});

test("a lock that is missing fails the check, and an update writes it", async () => {
  const before = lock();
  rmSync(join(copy, LOCK), { recursive: true });
  const { status, stderr } = await contracts("check");
  expect([status, stderr]).toEqual([2, expect.stringContaining("contracts.lock is missing")]);
  expect((await contracts("update")).status).toBe(0);
  expect(lock()).toBe(before);
});

test.each([
  [[]],
  [["chek"]],
  [["check", "more"]],
  [["check", "--accept-breaking"]],
  [["update", "--x"]],
])("wrong arguments print the usage: %j", async (args) => {
  const { status, stdout, stderr } = await contracts(...args);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("Usage: interlock contracts check");
});
