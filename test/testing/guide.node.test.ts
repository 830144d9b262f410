import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const PROJECT = join(ROOT, "dist/guide-of-testing");

/** What the package exports under a name, as a file of this repository. */
const EXPORTS: Readonly<Record<string, string>> = {
  "interlock-edge/testing": join(ROOT, "src/testing/index.ts"),
  "interlock-edge/tools": join(ROOT, "src/exports/tools.ts"),
};

/** The blocks of the guide that are files: their first line is a comment with the path. */
function writeFilesOfGuide(): readonly string[] {
  const guide = readFileSync(join(ROOT, "docs/testing.md"), "utf8");
  const blocks = guide.matchAll(/^```(?:ts|json)\n\/\/ (\S+)\n(.*?)^```/gms);
  return [...blocks].map(([, path = "", text = ""]) => {
    write(
      path,
      text.replace(/"(interlock-edge\/\w+)"/g, (_all, name: string) =>
        JSON.stringify(EXPORTS[name] ?? `unknown:${name}`),
      ),
    );
    return path;
  });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(PROJECT, path)), { recursive: true });
  writeFileSync(join(PROJECT, path), text);
}

rmSync(PROJECT, { recursive: true, force: true });
const tests = writeFilesOfGuide().filter((path) => path.endsWith(".test.ts"));
if (tests.length !== 3) throw new Error(`the guide has ${tests.length} files of tests`);

afterAll(() => rmSync(PROJECT, { recursive: true, force: true }));

for (const path of tests) {
  describe(`${path} of docs/testing.md`, async () => {
    await import(join(PROJECT, path));
  });
}
