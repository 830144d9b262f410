import * as fc from "fast-check";
import type { Caller } from "../../../../test/shared/worker.ts";
import type { Called, RunCrash } from "./teammate.ts";

/** One step of a game that two people plan: a call of a tool, or an undo of an earlier call. */
export interface Step {
  readonly caller: Caller;
  readonly kind: keyof typeof CALLS | "undo";
  /** Chooses what the step is about. */
  readonly at: number;
  readonly other: number;
  /** The person has not seen the newest revision. */
  readonly isStale: boolean;
  /** What crashes: the run of the call, or every object before it. */
  readonly crash: RunCrash | "everything" | undefined;
}

const runCrash = fc.record<RunCrash>({
  at: fc.integer({ min: 1, max: 8 }),
  mode: fc.constantFrom("before", "after", "durable"),
});

/** What a team has made so far. The same steps give the same, whatever the ids are. */
export class Made {
  readonly projectId: string;
  /** Ids by kind, in the order in which they were made; deleted ones stay. */
  readonly #ids: Record<Kind, string[]> = {
    system: [],
    dependency: [],
    plan: [],
    thread: [],
    brainstorm: [],
  };
  readonly #revisions = new Map<string, number>();
  /** Calls that succeeded. */
  readonly changes: { readonly called: Called; readonly caller: Caller }[] = [];
  #names = 0;

  constructor(projectId: string) {
    this.projectId = projectId;
  }

  /** A name that nothing has yet. */
  nextName(): string {
    return `n${++this.#names}`;
  }

  /** The id of one of a kind; of none while there is none. */
  idOf(kind: Kind, at: number): string {
    const ids = this.#ids[kind];
    return ids[at % ids.length] ?? "nowhere";
  }

  revisionOf(id: string, { isStale }: Pick<Step, "isStale">): number {
    return (this.#revisions.get(id) ?? 1) + (isStale ? 1 : 0);
  }

  /** Learns the ids and revisions that a call answered. */
  learn(caller: Caller, called: Called): void {
    // A refused call may show the state that it found.
    const { status, result_payload: payload } = called;
    if (status.taxonomy_class !== "SUCCESS") return;
    this.changes.push({ called, caller });
    this.#note(payload.data?.result.data, undefined);
  }

  /** Learns the dependencies that an import made, which its answer does not name. */
  learnEdges(edges: readonly unknown[]): void {
    for (const edge of edges) this.#note(edge, "dependency");
  }

  #note(value: unknown, name: string | undefined): void {
    if (typeof value !== "object" || value === null) return;
    const { id, revision } = value as { readonly id?: unknown; readonly revision?: unknown };
    if (typeof id === "string" && typeof revision === "number") {
      this.#revisions.set(id, revision);
      const ids = this.#ids[name as Kind] as string[] | undefined;
      if (ids?.includes(id) === false) ids.push(id);
    }
    for (const [field, inner] of Object.entries(value)) this.#note(inner, field);
  }
}

type Kind = "system" | "dependency" | "plan" | "thread" | "brainstorm";
type MakeArgs = (made: Made, step: Step) => object;

const TYPES = ["requires", "enhances", "optional"] as const;

/** The arguments of each tool that a step may call. */
const CALLS = {
  create_game_system: ({ projectId }, { at }) => ({
    projectId,
    name: `System ${at}`,
    // Some short names are taken.
    systemSlug: `system-${at % 7}`,
  }),
  update_game_system: (made, step) => {
    const systemId = made.idOf("system", step.at);
    return {
      systemId,
      revision: made.revisionOf(systemId, step),
      changeSummary: "More",
      purpose: made.nextName(),
    };
  },
  delete_game_system: (made, step) => {
    const systemId = made.idOf("system", step.at);
    return { systemId, revision: made.revisionOf(systemId, step) };
  },
  import_system_from_markdown: ({ projectId }, { at, other }) => ({
    projectId,
    // A name of one system, of several, and of none; a short name, which one system has.
    markdown: `# System ${at}\n\n## Mechanics\nOne of ${at}.\n\n## Depends on\n- System ${other}
- enhances system-${other % 7}\n- optional: system-${at % 7}`,
  }),
  add_dependency: (made, { at, other }) => ({
    sourceSystemId: made.idOf("system", at),
    targetSystemId: made.idOf("system", other),
    type: TYPES[other % 3],
  }),
  edit_row: (made, step) => {
    const id = made.idOf("dependency", step.at);
    const type = TYPES[step.other % 3];
    return { entity: "dependency", id, revision: made.revisionOf(id, step), type };
  },
  remove_dependency: (made, { at, other }) => ({
    sourceSystemId: made.idOf("system", at),
    targetSystemId: made.idOf("system", other),
  }),
  create_idea_thread: (made) => ({
    projectId: made.projectId,
    title: made.nextName(),
    text: "First",
  }),
  post_idea_message: (made, { at }) => ({
    threadId: made.idOf("thread", at),
    text: made.nextName(),
  }),
  finalize_threads_to_brainstorm: (made, { at }) => ({
    projectId: made.projectId,
    threadIds: [made.idOf("thread", at)],
    title: made.nextName(),
  }),
  create_brainstorm: (made) => ({
    projectId: made.projectId,
    title: made.nextName(),
    content: "- one",
  }),
  delete_brainstorm: (made, step) => {
    const brainstormId = made.idOf("brainstorm", step.at);
    return { brainstormId, revision: made.revisionOf(brainstormId, step) };
  },
  create_version_plan: (made, { at, other, isStale }) => ({
    projectId: made.projectId,
    version: `0.${other % 4}`,
    systemIds: [made.idOf("system", at)],
    allowIncomplete: !isStale,
  }),
  finalize_version_plan: (made, step) => {
    const planId = made.idOf("plan", step.at);
    return { planId, revision: made.revisionOf(planId, step) };
  },
  delete_version_plan: (made, step) => {
    const planId = made.idOf("plan", step.at);
    return { planId, revision: made.revisionOf(planId, step) };
  },
  generate_export: ({ projectId }, { at }) => ({
    projectId,
    kind: (["GDD", "PRD"] as const)[at % 2],
  }),
  update_project: (made) => ({ projectId: made.projectId, description: made.nextName() }),
} satisfies Record<string, MakeArgs>;

/** Makes the arguments of a step's call, of what the team has made. */
export function argsOf(made: Made, step: Step & { readonly kind: keyof typeof CALLS }): object {
  const make: MakeArgs = CALLS[step.kind];
  return make(made, step);
}

const KINDS = Object.keys(CALLS) as (keyof typeof CALLS)[];

/** What no model sees, so people call it by hand alone. */
export const BY_HAND: ReadonlySet<Step["kind"]> = new Set(["edit_row"]);

/** Systems come more often: most else is about them. */
const OFTEN = ["create_game_system", "edit_row", "import_system_from_markdown", "undo"] as const;

/** Steps of two people. */
export const steps = fc.array(
  fc.record<Step>({
    caller: fc.constantFrom("ada", "kim"),
    kind: fc.constantFrom(...KINDS, ...OFTEN, "create_game_system", "undo"),
    at: fc.nat(11),
    other: fc.nat(11),
    isStale: fc.constantFrom(false, false, false, true),
    crash: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: runCrash },
      { weight: 1, arbitrary: fc.constant("everything" as const) },
    ),
  }),
  { minLength: 6, maxLength: 14 },
);

/** What every game begins with, so that most later steps are about something. */
export const FIRST_STEPS: readonly Step[] = (
  [
    ["ada", "create_game_system", 0],
    ["kim", "create_game_system", 1],
    ["ada", "create_game_system", 2],
    ["kim", "add_dependency", 1],
    ["kim", "create_idea_thread", 0],
    ["ada", "create_version_plan", 0],
  ] as const
).map(([caller, kind, at]) => ({
  caller,
  kind,
  at,
  other: 0,
  isStale: false,
  crash: undefined,
}));
