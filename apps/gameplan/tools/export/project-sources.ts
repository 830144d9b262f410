import type { BrainstormSummary, SynthesisOutput } from "../entities/brainstorm.ts";
import type { GraphNode } from "../entities/dependency.ts";
import type { GameSystem } from "../entities/game-system.ts";
import type { Edge } from "../graph/dependency-graph.ts";
import type { Project } from "../entities/project.ts";
import type { VersionPlan } from "../entities/version-plan.ts";

/** What documents are written from. Lists that may be long are read while they are written. */
export interface ProjectSources {
  readonly project: Project;
  readonly title: string;
  /** ISO date. */
  readonly date: string;
  /** In the implementation order. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
  readonly plans: readonly VersionPlan[];
  readonly sessions: readonly (Pick<BrainstormSummary, "title" | "author"> & {
    readonly outputs: readonly SynthesisOutput[];
  })[];
  readonly openThreads: readonly string[];
  /** Systems with open questions, and the text of them. */
  readonly questions: readonly { readonly name: string; readonly text: string }[];
  readonly system: (systemId: string) => GameSystem | undefined;
  /** Names of the systems that a system depends on, each with the type. */
  readonly dependenciesOf: (systemId: string) => readonly string[];
}
