import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readBenchArguments } from "../../bench/arguments.ts";

const NAMES = ["burst", "chain", "gates", "memory"];

test("the bench measures everything when no measure is named", () => {
  expect(readBenchArguments([], NAMES)).toEqual({ only: NAMES, quick: false, memoryDisk: false });
});

test.each([
  [["--only", "gates,chain,burst"]],
  [["--only=gates,chain,burst"]],
  [["--only", "gates", "--only", "chain", "--only", "burst"]],
])("the bench measures only what %j names", (args) => {
  const only = ["gates", "chain", "burst"];
  expect(readBenchArguments(args, NAMES)).toMatchObject({ only, quick: false });
});

test.each([[["--only", "gates,none"]], [["--only", ""]], [["--fast"]], [["gates"]]])(
  "the bench refuses %j",
  (args) => {
    expect(() => readBenchArguments(args, NAMES)).toThrow(/measure|option|argument/);
  },
);

test("npm run bench hands its options to the bench", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const directory = mkdtempSync(join(tmpdir(), "interlock-bench-test-"));
  try {
    writeFileSync(join(directory, "npm"), '#!/bin/sh\necho "npm $*"\n');
    chmodSync(join(directory, "npm"), 0o755);
    // npm appends the options to the text of the script.
    const command = `${scripts["bench"]} --only gates,chain,burst`;
    const env = { PATH: `${directory}:${process.env["PATH"] ?? ""}` };
    expect(
      execFileSync("/bin/sh", ["-c", command], { env, encoding: "utf8" }).split("\n"),
    ).toContain("npm --prefix bench start -- --only gates,chain,burst");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
