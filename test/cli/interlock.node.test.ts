import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const SCRIPT = join(import.meta.dirname, "../../cli/interlock.ts");

function interlock(...args: readonly string[]) {
  const options = { cwd: tmpdir(), encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], options);
  return { status, stdout, stderr };
}

/** The names in the list of commands. */
const COMMANDS = [...interlock("--help").stdout.matchAll(/^ {2}(\w+) /gm)].map(
  ([, name = ""]) => name,
);

test("the list has every command that the documents name", () => {
  expect(COMMANDS).toEqual(
    expect.arrayContaining(
      "new dev build check contracts token decode audit push pull seed size models logs".split(" "),
    ),
  );
  expect(interlock().stdout).toBe(interlock("--help").stdout);
});

describe.each(COMMANDS)("interlock %s", (name) => {
  test("--help says how it is used, in any folder", () => {
    const { status, stdout, stderr } = interlock(name, "--help");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Usage: interlock ${name}`);
    expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  test("refuses an option that it does not have with its usage", () => {
    const { status, stderr } = interlock(name, "--no-such-option");
    expect(status).toBe(2);
    expect(stderr).not.toContain("    at ");
  });
});

test("an unknown command, also one of every object, is refused", () => {
  for (const name of ["toString", "deploy"]) {
    const { status, stderr } = interlock(name);
    expect([status, stderr]).toEqual([2, `There is no command ${name}. Run interlock --help.\n`]);
  }
});
