import type { Section } from "./section.ts";
import { activitySection } from "./sections/activity.ts";
import { binSection } from "./sections/bin.ts";
import { exportsSection } from "./sections/exports.ts";
import { graphSection } from "./sections/graph.ts";
import { ideasSection } from "./sections/ideas.ts";
import { plansSection } from "./sections/plans.ts";
import { projectSection } from "./sections/project.ts";
import { systemsSection } from "./sections/systems.ts";

/** The parts of the page, in their order. */
export const SECTIONS: readonly Section[] = [
  systemsSection,
  graphSection,
  plansSection,
  ideasSection,
  activitySection,
  exportsSection,
  binSection,
  projectSection,
];

/** Finds a part by its name in addresses; the systems for an unknown name. */
export function findSection(name: string): Section {
  return SECTIONS.find((section) => section.name === name) ?? systemsSection;
}
