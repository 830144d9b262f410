import type { ShowSection } from "./section.ts";
import { showActivity } from "./sections/activity.ts";
import { showBin } from "./sections/bin.ts";
import { showExports } from "./sections/exports.ts";
import { showGraph } from "./sections/graph.ts";
import { showIdeas } from "./sections/ideas.ts";
import { showImport } from "./sections/import-system.ts";
import { showPlans } from "./sections/plans.ts";
import { showProject } from "./sections/project.ts";
import { showQuestions } from "./sections/questions.ts";
import { showSearch } from "./sections/search.ts";

/** The parts that the page loads when they are shown first, by their name in addresses. */
export const LATER_SECTIONS = {
  graph: showGraph,
  plans: showPlans,
  ideas: showIdeas,
  activity: showActivity,
  questions: showQuestions,
  exports: showExports,
  bin: showBin,
  project: showProject,
  search: showSearch,
  import: showImport,
} satisfies Readonly<Record<string, ShowSection>>;
