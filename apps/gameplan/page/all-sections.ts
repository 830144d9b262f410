import { fail } from "../../../src/protocol/outcome/result.ts";
import { EVERY_ENTITY } from "./gather-changes.ts";
import type { LATER_SECTIONS } from "./later-sections.ts";
import type { Section } from "./section.ts";
import { systemsSection } from "./sections/systems.ts";

/** The parts of the page, in their order. */
export const SECTIONS: readonly Section[] = [
  systemsSection,
  later("graph", "Graph", ["system", "dependency", "board"]),
  later("plans", "Plans", ["version_plan", "system", "dependency"]),
  later("ideas", "Ideas", ["idea_thread", "idea_message", "brainstorm"]),
  later("activity", "Activity", EVERY_ENTITY),
  // What people ask is no row of the workspace.
  later("questions", "Questions", []),
  later("exports", "Exports", ["export"]),
  later("bin", "Bin", EVERY_ENTITY),
  later("project", "Project", EVERY_ENTITY),
];

/** Parts that other parts lead to: what the field of the page finds, and the import of a system. */
const UNLISTED: readonly Section[] = [
  later("search", "Search", EVERY_ENTITY),
  later("import", "Import", ["system", "dependency"]),
];

/** Finds a part by its name in addresses; the systems for an unknown name. */
export function findSection(name: string): Section {
  return [...SECTIONS, ...UNLISTED].find((section) => section.name === name) ?? systemsSection;
}

/** A part that is loaded when it is shown first: a page begins with the systems. */
function later(name: LaterName, title: string, entities: readonly string[]): Section {
  return {
    name,
    title,
    entities,
    async show(context) {
      const loaded = await loadLater();
      return loaded ? loaded[name](context) : fail(NOT_LOADED);
    },
  };
}

type Later = typeof LATER_SECTIONS;
type LaterName = keyof Later;

let loading: Promise<Later | undefined> | undefined;

/** Undefined: the file cannot be loaded now. The next call tries again. */
async function loadLater(): Promise<Later | undefined> {
  loading ??= import("./later-sections.ts").then(
    (loaded) => loaded.LATER_SECTIONS,
    () => undefined,
  );
  const loaded = await loading;
  if (!loaded) loading = undefined;
  return loaded;
}

const NOT_LOADED = {
  code: "unreachable",
  message: "This part of the page could not be loaded. Check the connection, or reload the page.",
  needsToken: false,
};
