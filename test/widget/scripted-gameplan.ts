import type { ServerResponse } from "node:http";
import type { ApiRequest } from "./scripted-api.ts";

type Data = Readonly<Record<string, unknown>>;
type Answer = (args: Data) => Data;

const AT = "2026-11-22T10:00:00.000Z";
const made = { revision: 1, createdAt: AT, createdBy: "user:ann", updatedAt: AT };

/** Makes the summary of a system. */
export function systemOf(id: string, name: string, more: Data = {}): Data {
  const kinds = { mvpCriticality: "core", status: "draft" };
  return { id, name, systemSlug: id, ...kinds, purpose: `What ${name} does.`, ...made, ...more };
}

const page = (items: readonly Data[]): Data => ({ items, total: items.length, next: null });

/** GamePlan's tools behind `invoke`, and the changes of its workspace. The test decides both. */
export class ScriptedGameplan {
  /** When set, reads are answered with this status. */
  status: number | undefined;
  /** Writes wait for the approval of this run. */
  waitsFor: string | undefined;
  projects: readonly Data[] = [
    { id: "p1", name: "Dungeon Crawler", status: "active", ...made },
    { id: "p2", name: "Puzzle Box", status: "concept", ...made },
  ];
  systems: readonly Data[] = [systemOf("move", "Movement"), systemOf("fight", "Combat Engine")];
  edges: readonly Data[] = [{ sourceSystemId: "fight", targetSystemId: "move", type: "requires" }];
  /** Where people put systems on the board. */
  readonly places = new Map<string, Data>();
  bin: readonly Data[] = [];
  activity: readonly Data[] = [];
  /** Calls of tools that write. */
  readonly writes: (readonly [tool: string, args: Data, key: string | undefined])[] = [];
  /** Answers that differ from the usual ones, by tool. */
  readonly answers = new Map<string, Answer>();
  readonly #streams = new Set<ServerResponse>();
  readonly #held = new Map<string, () => Promise<void>>();
  #revision = 0;
  #isAway = false;

  owns(path: string): boolean {
    return /^\/v1\/(?:tools\/gameplan__|workspaces)/.test(path);
  }

  /** The number of open streams of changes. */
  get followers(): number {
    return this.#streams.size;
  }

  /** Announces a changed row to every page. */
  announce(entity: string, id = "any"): void {
    this.#revision += 1;
    const revision = this.#revision;
    const data = JSON.stringify({ entity, id, revision });
    for (const stream of this.#streams) {
      stream.write(`event: workspace_changed\nid: ${revision}\ndata: ${data}\n\n`);
    }
  }

  /** Holds back the next answer of a tool until `release`. `asked`: the call has arrived. */
  hold(tool: string): { readonly asked: Promise<void>; readonly release: () => void } {
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#held.set(tool, () => {
      this.#held.delete(tool);
      asked.resolve();
      return released.promise;
    });
    return { asked: asked.promise, release: released.resolve };
  }

  /** Breaks every stream of changes; until `comeBack` none opens and no workspace is listed. */
  goAway(): void {
    this.#isAway = true;
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }

  comeBack(): void {
    this.#isAway = false;
  }

  answer({ path, body, idempotencyKey }: ApiRequest, response: ServerResponse): void {
    if (this.#isAway && path.startsWith("/v1/workspaces")) {
      return send(response, 503, { code: "policy_unavailable", title: "Unavailable" });
    }
    if (path === "/v1/workspaces") {
      return send(response, 200, { workspaces: [{ name: "gameplan", id: "studio" }] });
    }
    if (path.startsWith("/v1/workspaces")) return this.#follow(response);
    const tool = /gameplan__(\w+)\/invoke$/.exec(path)?.[1] ?? "";
    const { arguments: args } = JSON.parse(body) as { arguments: Data };
    if (this.status !== undefined) {
      return send(response, this.status, {
        code: "policy_unavailable",
        detail: "The store is being moved.",
      });
    }
    const isWrite = idempotencyKey !== undefined;
    if (isWrite) this.writes.push([tool, args, idempotencyKey]);
    if (isWrite && this.waitsFor !== undefined) {
      return send(response, 202, { runId: this.waitsFor, status: "waiting" });
    }
    const reply = (): void => {
      const answer = this.answers.get(tool) ?? this.#usual(tool);
      send(response, 200, { runId: "run_call", observation: observe(answer(args)) });
    };
    const wait = this.#held.get(tool);
    if (wait) void wait().then(reply);
    else reply();
  }

  #follow(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const data = JSON.stringify({ revision: this.#revision });
    response.write(`id: ${this.#revision}\nevent: workspace_reset\ndata: ${data}\n\n`);
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }

  #usual(tool: string): Answer {
    const usual: Readonly<Record<string, Answer>> = {
      list_projects: () => page(this.projects),
      list_game_systems: ({ search }) =>
        page(
          this.systems.filter(({ name }) =>
            String(name).includes(typeof search === "string" ? search : ""),
          ),
        ),
      get_game_system: ({ systemId }) => ({
        system: this.systems.find(({ id }) => id === systemId) ?? {},
        dependsOn: [{ systemId: "move", name: "Movement", systemSlug: "move", type: "requires" }],
        requiredBy: [],
        changelog: [{ id: "c1", at: AT, author: "user:ann", revision: 1, summary: "Created" }],
      }),
      get_impact_analysis: () => ({ system: {}, impacted: [], total: 0, draftPlans: [] }),
      get_dependency_graph: () => ({
        nodes: this.systems.map((system, position) => ({
          ...system,
          systemId: system["id"],
          position,
        })),
        edges: [{ sourceSystemId: "fight", targetSystemId: "move", type: "requires" }],
        nodeTotal: this.systems.length,
        edgeTotal: 1,
        nextOffset: null,
      }),
      get_board: () => ({
        nodes: this.systems.map((system, position) => ({
          place: this.places.get(String(system["id"])) ?? null,
          ...system,
          systemId: system["id"],
          position,
        })),
        edges: this.edges,
        nodeTotal: this.systems.length,
        edgeTotal: this.edges.length,
      }),
      get_project_activity: () => page(this.activity),
      list_bin: () => page(this.bin),
      list_version_plans: () => page([PLAN]),
      get_version_plan: () => ({ plan: PLAN, scope: { valid: true, missing: [], order: [] } }),
      list_idea_threads: () => page([THREAD]),
      get_thread_messages: () => ({ thread: THREAD, ...page([MESSAGE, OWN_MESSAGE]) }),
      list_brainstorms: () =>
        page([{ id: "b1", title: "Kick-off", outputs: 1, tags: [], ...made }]),
      get_brainstorm: () => ({ brainstorm: BRAINSTORM }),
      list_exports: () => page([EXPORT]),
      get_export: ({ part }) => ({ export: EXPORT, part, text: `part ${String(part)};` }),
    };
    return usual[tool] ?? (() => ({}));
  }
}

const PLAN = {
  id: "v1",
  version: "0.1",
  name: "First playable",
  goal: "A hero walks and fights.",
  status: "draft",
  systems: 2,
  phases: [
    { number: 1, name: "Walk", systems: [{ systemId: "move", name: "Movement", exists: true }] },
    { number: 2, name: "Fight", systems: [{ systemId: "fight", name: "Combat", exists: false }] },
  ],
  ...made,
};
const THREAD = {
  id: "t1",
  title: "The boss",
  status: "open",
  messageCount: 1,
  unreadCount: 1,
  ...made,
};
const MESSAGE = { id: "m1", number: 1, author: "user:bob", text: "<b>Big</b> boss", at: AT };
const OWN_MESSAGE = { id: "m2", number: 2, author: "user:ann", text: "Mine", at: AT, revision: 1 };
const BRAINSTORM = {
  id: "b1",
  title: "Kick-off",
  content: "All of it",
  outputs: [{ kind: "decision", text: "No jumping" }],
  ...made,
};
const EXPORT = {
  id: "e1",
  kind: "GDD",
  title: "The design",
  fileName: "design.md",
  parts: 2,
  ...made,
};

/** The observation of a call. Data with `error` make a failed one. */
function observe(data: Data): object {
  const { error } = data as { error?: string };
  if (error !== undefined) {
    return {
      result_payload: { data: null, errors: [{ field: null, message: error, code: "conflict" }] },
    };
  }
  return {
    result_payload: { data: { result: { success: true, data } }, errors: [], warnings: [] },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
