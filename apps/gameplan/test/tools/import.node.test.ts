import * as fc from "fast-check";
import { expect, test } from "vitest";
import { discard } from "../../tools/bin/discard.ts";
import { restore } from "../../tools/bin/restore.ts";
import { addDependency } from "../../tools/dependency/add-dependency.ts";
import { SYSTEM_TEXTS } from "../../tools/entities/system-texts.ts";
import { createGameSystem } from "../../tools/game-system/create-game-system.ts";
import { getGameSystem } from "../../tools/game-system/get-game-system.ts";
import { importSystem } from "../../tools/game-system/import-system.ts";
import { cleanText } from "../../tools/markdown/clean-text.ts";
import { createLinkFinder } from "../../tools/markdown/find-links.ts";
import { parseSystem } from "../../tools/markdown/parse-system.ts";
import { writeSystem } from "../../tools/markdown/write-system.ts";
import { createProject } from "../../tools/project/create-project.ts";
import { getProjectActivity } from "../../tools/project/get-project-activity.ts";
import { getProject } from "../../tools/project/get-project.ts";
import { startProject } from "./start-project.ts";

/** A system whose short name is its id. */
const named = (id: string, name: string) => ({ id, name, slug: id });

test("a document names what its system depends on, and what names no system stays text", () => {
  const systems = [named("move", "Movement"), named("cloud", "Fog"), named("mist", "Fog")];
  const finder = createLinkFinder(() => systems);
  const parsed = parseSystem(
    "---\nstatus: active\ntags: [x]\n---\n# Stealth\n" +
      "## Depends on\n- optional: **Movement**\n* requires Fog (mist)\n- Fog\n- Moon\n- Movement",
    { takeLink: finder.take },
  );
  expect(finder.found).toEqual([
    { target: named("move", "Movement"), type: "optional" },
    { target: named("mist", "Fog"), type: "requires" },
  ]);
  const says = "names no system, several, or one too many.";
  expect(finder.warnings).toEqual([`"Fog" ${says}`, `"Moon" ${says}`, `"Movement" ${says}`]);
  expect(parsed?.system).toMatchObject({
    status: "active",
    purpose: "tags: [x]",
    implementationNotes: "**Depends on**\n\n- Fog\n- Moon\n- Movement",
  });
});

test("the tool makes the dependencies that a document names, and nothing of another project", () => {
  const { workspace, projectId, ids } = startProject("Movement", "Boss");
  const other = workspace.call(createProject, { name: "Second" }).project.id;
  workspace.call(createGameSystem, { projectId: other, name: "Far", systemSlug: "far" });
  const markdown = "# Stealth\n## Depends on\n- enhances: MOVEMENT\n- Boss (boss)\n- Far\n- Boss";
  const { system, warnings } = workspace.call(importSystem, { projectId, markdown });
  const { dependsOn } = workspace.call(getGameSystem, { systemId: system.id });
  expect(dependsOn.map(({ systemId, type }) => [systemId, type])).toEqual([
    [ids[1], "requires"],
    [ids[0], "enhances"],
  ]);
  const says = "names no system, several, or one too many.";
  expect(warnings).toEqual([`"Far" ${says}`, `"Boss" ${says}`]);
  expect(system.implementationNotes).toBe("**Depends on**\n\n- Far\n- Boss");
  // The newest line is that of the whole call, which its Undo takes back.
  const { items } = workspace.call(getProjectActivity, { projectId, limit: 3 });
  expect(items.map(({ summary }) => summary)).toEqual([
    'Imported game system "Stealth" (stealth)',
    "Added dependency: Stealth requires Boss",
    "Added dependency: Stealth enhances Movement",
  ]);
});

test("undo of an import takes along what the system depends on, and not what depends on it", () => {
  const { workspace, projectId, ids } = startProject("Movement", "Boss");
  const [movement = ""] = ids;
  const markdown = "# Stealth\n## Depends on\n- Boss";
  const { system } = workspace.call(importSystem, { projectId, markdown });
  const { id, revision } = system;
  const counts = () => workspace.call(getProject, { projectId }).counts;
  expect(counts()).toMatchObject({ systems: 3, dependencies: 2 });
  workspace.call(discard, { entity: "system", id, revision });
  expect(counts()).toMatchObject({ systems: 2, dependencies: 1 });
  workspace.call(restore, { entity: "system", id });
  expect(counts()).toMatchObject({ systems: 3, dependencies: 2 });
  const behind = { sourceSystemId: movement, targetSystemId: id, type: "requires" as const };
  workspace.call(addDependency, behind);
  const again = { entity: "system" as const, id, revision: revision + 2 };
  expect(workspace.refusal(discard, again)).toBe("stale");
});

const line = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("# A", "## Purpose", "\\## B", "\\\\```", "```", "~~~", "````js", "---"),
  fc.constantFrom(
    "### Depends on",
    "- Movement",
    "  ",
    "   # C #",
    "\u0001# D",
    "```a`",
    "    ```",
  ),
);
const text = fc.array(line, { maxLength: 8 }).map((lines) => lines.join("\n").slice(0, 4_000));
const oneLine = (drawn: string) => cleanText(drawn).replaceAll(/\s+/g, " ").trim();
const name = fc
  .string({ unit: "binary", minLength: 1, maxLength: 30 })
  .map((drawn) => `${drawn}x`)
  .filter((drawn) => oneLine(drawn) !== "");

test("the document of a system is read as the same system, with its dependencies", () => {
  const systems = fc.record({
    name: fc.oneof(name, fc.constantFrom("C #", "##x ##", "Fog: requires", "- Boss (loot)")),
    systemSlug: fc.constantFrom("a", "a--b", "9-", "x".repeat(64)),
    mvpCriticality: fc.constantFrom("core", "later"),
    status: fc.constantFrom("active", "deprecated"),
    ...Object.fromEntries(SYSTEM_TEXTS.map((field) => [field, text])),
  });
  fc.assert(
    fc.property(systems, name, (system: Readonly<Record<string, string>>, other) => {
      const finder = createLinkFinder(() => [named("boss", other)]);
      const markdown = writeSystem({
        textOf: (field) => system[field] ?? "",
        dependsOn: [{ name: other, systemSlug: "boss", type: "enhances" }],
      });
      const parsed = parseSystem(markdown, { takeLink: finder.take });
      const same = Object.entries(system).flatMap(([field, value]) => {
        const written = field === "name" ? oneLine(value) : cleanText(value).trim();
        return written === "" ? [] : [[field, written] as const];
      });
      expect(parsed).toEqual({ system: Object.fromEntries(same), warnings: [] });
      expect(finder.found).toEqual([{ target: named("boss", other), type: "enhances" }]);
    }),
    { seed: 4 },
  );
});
