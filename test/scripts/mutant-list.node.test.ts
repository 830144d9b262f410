import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readMutants, takeAway } from "../../scripts/mutants/list.ts";

const root = mkdtempSync(join(tmpdir(), "mutant-list-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test("a list that is not true is refused, line by line", () => {
  write("src/door.ts", "if (\n  isLocked\n) return;\ntwice();\ntwice();\n");
  write("test/door.test.ts", 'test.each(["steel"])("a door of %s stays shut", () => {});');
  const lines = [
    "- before any heading | a | b | c",
    "## src/door.ts, test/door.test.ts",
    "- the door opens | if ( isLocked ) return; | | a door of steel stays shut",
    "- the door opens | isLocked | false | a door of steel stays shut",
    "- two places | twice(); | | a door of steel stays shut",
    "- no place | thrice(); | | a door of steel stays shut",
    "- no test | isLocked | false | a window of steel stays shut",
    "- no change | isLocked | isLocked | a door of steel stays shut",
    "- no test at all | isLocked | false",
    "## src/window.ts, test/door.test.ts",
    "- no source | isLocked | false | a door of steel stays shut",
  ];
  write("scripts/mutants/doors.md", lines.join("\n"));
  const { mutants, faults } = readMutants(root);
  expect(faults).toEqual([
    expect.stringContaining("doors.md:1: not"),
    expect.stringContaining("doors.md:8: not"),
    expect.stringContaining("doors.md:9: not"),
    "doors: the door opens: another mutant has this name",
    "doors: two places: src/door.ts holds its text 2 times",
    "doors: no place: src/door.ts holds its text 0 times",
    'doors: no test: test/door.test.ts has no test "a window of steel stays shut"',
    "doors: no source: src/window.ts is not there",
  ]);
  const [opens] = mutants;
  expect(opens && takeAway("if (isLocked) return;\nif (\n  isLocked\n) return; on()", opens)).toBe(
    "if (isLocked) return;\n on()",
  );
});
