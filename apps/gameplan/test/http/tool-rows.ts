/** Ids of a project that has one of everything. */
export interface World {
  readonly project: string;
  readonly combat: string;
  readonly movement: string;
  readonly brainstorm: string;
  readonly plan: string;
  readonly thread: string;
  readonly spare: string;
  /** A plan that the table makes on its way. */
  draft?: string;
}

const NOWHERE = "nowhere";
/** A tool, arguments that succeed, and arguments that fail with a code. */
interface Row {
  readonly tool: string;
  readonly good: (world: World) => object;
  readonly says: string;
  readonly bad: (world: World) => object;
  readonly code: string;
  /** A person is asked before it runs. */
  readonly asks?: true;
}

const at = (field: string) => () => ({ [field]: NOWHERE });
const inProject = ({ project }: World): object => ({ projectId: project });

/** Each tool once, in the order of a story. */
export const ROWS: readonly Row[] = [
  {
    tool: "list_projects",
    good: () => ({ status: "concept" }),
    says: "Listed 1 project",
    bad: () => ({ status: "lost" }),
    code: "OUT_OF_BOUNDS",
  },
  {
    tool: "get_project",
    good: inProject,
    says: 'Read project "Dungeon"',
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "create_project",
    good: () => ({ name: "Second" }),
    says: 'Created project "Second"',
    bad: () => ({ name: " " }),
    code: "OUT_OF_BOUNDS",
  },
  {
    tool: "update_project",
    good: (w) => ({ ...inProject(w), genre: "roguelike" }),
    says: 'Updated project "Dungeon"',
    bad: (w) => ({ ...inProject(w), genre: "x", revision: 77 }),
    code: "stale",
  },
  {
    tool: "get_project_activity",
    good: inProject,
    says: "Read 9 activities",
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "list_game_systems",
    good: (w) => ({ ...inProject(w), search: "comb" }),
    says: "Found 1 game system",
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "get_game_system",
    good: ({ combat }) => ({ systemId: combat }),
    says: 'Read game system "Combat"',
    bad: at("systemId"),
    code: "not_found",
  },
  {
    tool: "create_game_system",
    good: (w) => ({ ...inProject(w), name: "Loot", systemSlug: "loot" }),
    says: 'Created game system "Loot" (loot)',
    bad: (w) => ({ ...inProject(w), name: "Loot", systemSlug: "combat" }),
    code: "conflict",
  },
  {
    tool: "update_game_system",
    good: ({ combat }) => ({ systemId: combat, changeSummary: "Turns", coreMechanics: "Turns" }),
    says: 'Updated game system "Combat"',
    bad: ({ combat }) => ({ systemId: combat, changeSummary: "Nothing" }),
    code: "validation",
  },
  {
    tool: "import_system_from_markdown",
    good: (w) => ({ ...inProject(w), markdown: "# Magic\n\n## Purpose\nSpells." }),
    says: 'Imported game system "Magic"',
    bad: (w) => ({ ...inProject(w), markdown: " " }),
    code: "validation",
  },
  {
    tool: "list_brainstorms",
    good: inProject,
    says: "Listed 1 brainstorm",
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "get_brainstorm",
    good: ({ brainstorm }) => ({ brainstormId: brainstorm }),
    says: 'Read brainstorm "Day one"',
    bad: at("brainstormId"),
    code: "not_found",
  },
  {
    tool: "create_brainstorm",
    good: (w) => ({ ...inProject(w), title: "Day two", content: "More?" }),
    says: 'Created brainstorm "Day two"',
    bad: () => ({ projectId: NOWHERE, title: "x", content: "x" }),
    code: "not_found",
  },
  {
    tool: "get_dependency_graph",
    good: inProject,
    says: "Read 5 systems and 1 dependency",
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "add_dependency",
    good: ({ spare, combat }) => ({
      sourceSystemId: spare,
      targetSystemId: combat,
      type: "enhances",
    }),
    says: "Added dependency: Spare enhances Combat",
    bad: ({ movement, spare }) => ({
      sourceSystemId: movement,
      targetSystemId: spare,
      type: "optional",
    }),
    code: "validation",
  },
  {
    tool: "get_impact_analysis",
    good: ({ movement }) => ({ systemId: movement }),
    says: "A change reaches 2 systems",
    bad: at("systemId"),
    code: "not_found",
  },
  {
    tool: "remove_dependency",
    good: ({ spare, combat }) => ({ sourceSystemId: spare, targetSystemId: combat }),
    says: "Removed dependency: Spare enhances Combat",
    bad: ({ spare, combat }) => ({ sourceSystemId: combat, targetSystemId: spare }),
    code: "not_found",
  },
  {
    tool: "list_version_plans",
    good: inProject,
    says: "Listed 1 version plan",
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "get_version_plan",
    good: ({ plan }) => ({ planId: plan }),
    says: "Read version plan 0.1",
    bad: at("planId"),
    code: "not_found",
  },
  {
    tool: "validate_version_scope",
    good: ({ combat, ...w }) => ({ projectId: w.project, systemIds: [combat] }),
    says: "The scope lacks 1 system",
    bad: (w) => ({ ...inProject(w), systemIds: [NOWHERE] }),
    code: "not_found",
  },
  {
    tool: "create_version_plan",
    good: (w) => ({ ...inProject(w), version: "0.2", systemIds: [w.movement] }),
    says: "Created version plan 0.2",
    bad: (w) => ({ ...inProject(w), version: "0.3", systemIds: [w.combat] }),
    code: "validation",
  },
  {
    tool: "list_idea_threads",
    good: inProject,
    says: "Listed 1 idea thread",
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "get_thread_messages",
    good: ({ thread }) => ({ threadId: thread }),
    says: 'Read idea thread "Bosses"',
    bad: at("threadId"),
    code: "not_found",
  },
  {
    tool: "create_idea_thread",
    good: (w) => ({ ...inProject(w), title: "Music" }),
    says: 'Started idea thread "Music"',
    bad: () => ({ projectId: NOWHERE, title: "x" }),
    code: "not_found",
  },
  {
    tool: "post_idea_message",
    good: ({ thread }) => ({ threadId: thread, text: "Two dragons" }),
    says: 'Posted in idea thread "Bosses"',
    bad: () => ({ threadId: NOWHERE, text: "x" }),
    code: "not_found",
  },
  {
    tool: "finalize_threads_to_brainstorm",
    good: (w) => ({ ...inProject(w), threadIds: [w.thread], title: "Boss day" }),
    says: 'Made brainstorm "Boss day" of idea threads',
    bad: (w) => ({ ...inProject(w), threadIds: [w.thread], title: "Again" }),
    code: "conflict",
    asks: true,
  },
  {
    tool: "generate_export",
    good: (w) => ({ ...inProject(w), kind: "GDD" }),
    says: 'Generated GDD "Dungeon: Game design document"',
    bad: () => ({ projectId: NOWHERE, kind: "PRD" }),
    code: "not_found",
  },
  {
    tool: "list_exports",
    good: inProject,
    says: "Listed 1 export",
    bad: at("projectId"),
    code: "not_found",
  },
  {
    tool: "finalize_version_plan",
    good: ({ plan }) => ({ planId: plan, revision: 1 }),
    says: "Finalized version plan 0.1",
    bad: ({ plan }) => ({ planId: plan, revision: 2 }),
    code: "conflict",
    asks: true,
  },
  {
    tool: "delete_version_plan",
    good: ({ draft = NOWHERE }) => ({ planId: draft, revision: 1 }),
    says: "Deleted version plan 0.2",
    bad: ({ plan }) => ({ planId: plan, revision: 2 }),
    code: "conflict",
    asks: true,
  },
  {
    tool: "delete_game_system",
    good: ({ movement }) => ({ systemId: movement, revision: 1 }),
    says: 'Deleted game system "Movement"',
    bad: () => ({ systemId: NOWHERE, revision: 1 }),
    code: "not_found",
    asks: true,
  },
  {
    tool: "delete_brainstorm",
    good: ({ brainstorm }) => ({ brainstormId: brainstorm, revision: 1 }),
    says: 'Deleted brainstorm "Day one"',
    bad: () => ({ brainstormId: NOWHERE, revision: 1 }),
    code: "not_found",
    asks: true,
  },
  {
    tool: "delete_project",
    good: (w) => ({ ...inProject(w), revision: 2 }),
    says: 'Deleted project "Dungeon"',
    bad: (w) => ({ ...inProject(w), revision: 77 }),
    code: "not_found",
    asks: true,
  },
];
