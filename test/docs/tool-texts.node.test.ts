import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { registerContracts } from "../../src/contracts/check/register.ts";
import type { RegisteredContract } from "../../src/contracts/catalog/registered.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";

/** What a tool adds to a request: with its schema alone, with the description, with everything. */
function measure({ contract, spec }: RegisteredContract): readonly number[] {
  return ["", contract.description, spec.description].map((description) =>
    Buffer.byteLength(JSON.stringify(openAIWire.encodeTool({ ...spec, description }))),
  );
}

test("docs/tools-authoring.md says what the texts of a tool cost in each request", () => {
  const shown = registerContracts(TOOLS).filter(({ spec }) => spec.shownToModel);
  const isGameplan = ({ spec }: RegisteredContract): boolean => spec.name.startsWith("gameplan__");
  const rows = shown
    .filter((tool) => !isGameplan(tool))
    .map((tool): [string, readonly number[]] => [`\`${tool.spec.name}\``, measure(tool)]);
  const apps = shown.filter(isGameplan).map(measure);
  const sums = [0, 1, 2].map((at) => apps.reduce((sum, sizes) => sum + (sizes[at] ?? 0), 0));
  const expected = [...rows, [`${apps.length} tools of GamePlan`, sums] as const].map(
    ([name, sizes]) => [name, ...sizes.map((size) => size.toLocaleString("en"))].join(" | "),
  );
  const page = readFileSync("docs/tools-authoring.md", "utf8");
  const [, table = ""] =
    /\n\| tool +\| bytes of name[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page) ?? [];
  const written = table
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim())
        .join(" | "),
    );
  expect(written).toEqual(expected);
});
