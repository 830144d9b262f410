import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findPath, levelsOf, type Edge } from "../../tools/graph/dependency-graph.ts";
import { parseSystem } from "../../tools/markdown/parse-system.ts";
import { SYSTEM_TEXTS } from "../../tools/entities/system-texts.ts";

test("a document becomes the fields that its headings name", () => {
  const parsed = parseSystem(
    "---\nstatus: Active\npriority: core\n---\n# Combat Engine #\n\nFights.\n\n" +
      "## Core Mechanics\nTurns.\n\n```\n# no heading\n```\n### Dice\nTwo.\n## Lore\nOld.\n## Open questions\nWhy?",
  );
  expect(parsed).toEqual({
    system: {
      name: "Combat Engine",
      systemSlug: "combat-engine",
      status: "active",
      mvpCriticality: "core",
      purpose: "Fights.",
      coreMechanics: "Turns.\n\n```\n# no heading\n```\n\n**Dice**\n\nTwo.",
      implementationNotes: "**Lore**\n\nOld.",
      openQuestions: "Why?",
    },
    warnings: ["Unknown sections in the notes: 1."],
  });
});

test.each([
  ["no title", "just text", "Imported system"],
  ["a byte order mark and Windows lines", "\uFEFF# Loot\r\n\r\n## Purpose\r\nDrops", "Loot"],
  ["front matter without an end", "---\n# Loot", "Loot"],
  ["a code block without an end", "# Loot\n```\n## Purpose", "Loot"],
  ["half a character", "# Lo\uD800ot", "Lo\uFFFDot"],
])("the importer survives %s", (_name, markdown, name) => {
  expect(parseSystem(markdown)?.system.name).toBe(name);
});

test("whatever a document holds, its system fits the bounds", () => {
  const line = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("# A", "## Purpose", "## Inputs", "```", "~~~", "---", "status: x", "- a?"),
  );
  const documents = fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(documents, (markdown) => {
      const parsed = parseSystem(markdown);
      if (!parsed) return;
      expect(parsed.system.name).toMatch(/\S/);
      expect(parsed.system.name.length).toBeLessThanOrEqual(120);
      expect(parsed.system.systemSlug).toMatch(/^[a-z0-9][a-z0-9-]{0,63}$/);
      for (const field of SYSTEM_TEXTS) {
        expect((parsed.system[field] ?? "").length).toBeLessThanOrEqual(4_000);
      }
    }),
    { seed: 4 },
  );
});

test("a graph without cycles gives every system a level above all that it depends on", () => {
  const pairs = fc.array(fc.tuple(fc.nat(15), fc.nat(15)), { maxLength: 60 });
  fc.assert(
    fc.property(pairs, (wanted) => {
      const edges: Edge[] = [];
      for (const [source, target] of wanted) {
        const edge = { sourceSystemId: `s${source}`, targetSystemId: `s${target}` };
        // As add_dependency does.
        if (findPath(edges, edge.targetSystemId, edge.sourceSystemId)) continue;
        edges.push({ ...edge, type: "requires" });
      }
      const levels = levelsOf(
        Array.from({ length: 16 }, (_, n) => `s${n}`),
        edges,
      );
      expect(levels.size).toBe(16);
      for (const { sourceSystemId, targetSystemId } of edges) {
        expect(levels.get(sourceSystemId)).toBeGreaterThan(levels.get(targetSystemId) ?? 99);
      }
    }),
    { seed: 4 },
  );
});
