import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { runCommand, startCommand } from "../shared/command-process.ts";

async function interlock(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await runCommand(args, tmpdir());
  return { status: exitCode, stdout, stderr };
}

/** The names in the list of commands. */
const COMMANDS = [...(await interlock("--help")).stdout.matchAll(/^ {2}(\w+) /gm)].map(
  ([, name = ""]) => name,
);

test("the list has every command that the documents name", async () => {
  expect(COMMANDS).toEqual(
    expect.arrayContaining(
      "new dev build check contracts token decode audit push pull seed size models logs".split(" "),
    ),
  );
  expect((await interlock()).stdout).toBe((await interlock("--help")).stdout);
});

describe.each(COMMANDS)("interlock %s", (name) => {
  test("--help says how it is used, in any folder", async () => {
    const { status, stdout, stderr } = await interlock(name, "--help");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Usage: interlock ${name}`);
    expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  test("refuses an option that it does not have with its usage", async () => {
    const { status, stderr } = await interlock(name, "--no-such-option");
    expect(status).toBe(2);
    expect(stderr).not.toContain("    at ");
  });
});

test("an unknown command, also one of every object, is refused, in a process of its own too", async () => {
  for (const name of ["toString", "deploy"]) {
    const said = { exitCode: 2, stderr: `There is no command ${name}. Run interlock --help.\n` };
    expect(await runCommand([name], tmpdir())).toMatchObject(said);
    expect(await startCommand([name], tmpdir())).toMatchObject(said);
  }
});
