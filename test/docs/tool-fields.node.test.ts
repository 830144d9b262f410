import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EFFECTS } from "./tool-fields/effects.ts";

/** The fields of both tables of docs/tools-authoring.md, by the names in their first column. */
function documentedFields(): readonly string[] {
  const page = readFileSync("docs/tools-authoring.md", "utf8");
  const tables = page.slice(page.indexOf("## Required fields"), page.indexOf("### What a model"));
  return tables
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => (line.split("|")[1] ?? "").match(/(?<=`)[\w.]+(?=`)/g) ?? []);
}

describe("the tables of fields in docs/tools-authoring.md", () => {
  test("list exactly the fields whose effect is shown here", () => {
    expect(documentedFields().toSorted()).toEqual(Object.keys(EFFECTS).toSorted());
  });

  test.each(Object.entries(EFFECTS))("%s has the effect that its row says", async (_, effect) => {
    const { measure, planted, shows, otherwise } = effect;
    expect(await measure(planted)).toEqual(shows);
    expect(await measure(otherwise)).not.toEqual(shows);
  });
});
