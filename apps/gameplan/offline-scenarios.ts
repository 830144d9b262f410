import type { OfflineAnswer, OfflineScenario, OfflineTurn } from "interlock-edge/testing";

type Json = Record<string, unknown>;

/** An offline turn, and the project that the page shows, if the page told one. */
interface Turn extends OfflineTurn {
  readonly projectId: string | undefined;
}

const text = (content: string): OfflineAnswer => ({ content });

/** One system needs another one. */
const LINK = /^(?:the )?([\w ]+?) (requires|enhances) (?:the )?([\w ]+?)[.!]?$/i;

/**
 * Conversations about a game, for `interlock dev --offline`. Each answer depends on what the tools
 * answered so far: a tool whose result is there is not called again.
 */
const scenarios: readonly OfflineScenario[] = [
  talk("a new project", /\b(?:create|start|new) (?:a )?(?:project|game)\b/i, (turn) => {
    const [, called, kind] =
      /\b(?:called|named) "?([^".]+)|\bfor an? ([\w ]+?)(?: game)?[.!?]*$/i.exec(turn.question) ??
      [];
    const name = called ?? titleCase(`${kind ?? "new"} game`);
    return (
      missing(turn, "create_project", {
        name,
        genre: "Puzzle",
        platform: "PC",
        status: "concept",
      }) ??
      text(
        `The project **${name}** is there. Choose it at the top of the page, and add its systems.`,
      )
    );
  }),
  talk("a chain of four", /requires (\w+).*plan (?:version )?[\d.]+/is, addThenPlan),
  talk("two tools at once", /\badd (?:an? )?(\w+)(?: system)? and (?:an? )?(\w+)/i, (turn) => {
    const [, first = "", second = ""] =
      /\badd (?:an? )?(\w+)(?: system)? and (?:an? )?(\w+)/i.exec(turn.question) ?? [];
    const names = [first, second].map(titleCase);
    return (
      missingEach(
        turn,
        "create_game_system",
        names.map((name) => newSystem(turn, name)),
      ) ??
      text(
        `I added **${names.join("** and **")}** at the same time. They do not depend on anything yet.`,
      )
    );
  }),
  talk("one tool", /^add (?:an? )?([\w ]+?)(?: system)?[.!]?$/i, (turn) => {
    const [, name = ""] = /^add (?:an? )?([\w ]+?)(?: system)?[.!]?$/i.exec(turn.question) ?? [];
    return (
      missing(turn, "create_game_system", newSystem(turn, name)) ??
      text(`**${titleCase(name)}** is there. What does it require?`)
    );
  }),
  talk("a dependency", LINK, (turn) => {
    const [, source = "", type = "", target = ""] = LINK.exec(turn.question) ?? [];
    const listed = missing(turn, "list_game_systems", { projectId: turn.projectId, limit: 100 });
    if (listed) return listed;
    const known = itemsOf(turn, "list_game_systems");
    const [from, to] = [source, target].map((asked) =>
      known.find(({ name }) => sameName(name, asked)),
    );
    if (!from || !to)
      return text("I know no such systems. Say their names as the page shows them.");
    const ends = { sourceSystemId: from["id"], targetSystemId: to["id"], type: type.toLowerCase() };
    return (
      missing(turn, "add_dependency", ends) ??
      text(`**${String(from["name"])}** now ${type.toLowerCase()} **${String(to["name"])}**.`)
    );
  }),
  talk("a plan of all systems", /^plan (?:version )?([\d.]*\d)/i, (turn) => {
    const [, version = "0.1"] = /^plan (?:version )?([\d.]*\d)/i.exec(turn.question) ?? [];
    const systemIds = itemsOf(turn, "list_game_systems").map(({ id }) => id);
    return (
      missing(turn, "list_game_systems", { projectId: turn.projectId, limit: 100 }) ??
      (systemIds.length === 0 ? text("There is no system to plan. Add one first.") : undefined) ??
      missing(turn, "create_version_plan", { projectId: turn.projectId, version, systemIds }) ??
      text(`Version ${version} holds every system, in the order of building.`)
    );
  }),
  talk("the dependency graph", /\b(?:graph|dependencies)\b/i, (turn) => {
    const { projectId } = turn;
    return (
      missing(turn, "get_dependency_graph", { projectId }) ??
      text("This is the graph. What stands left is built first.")
    );
  }),
  talk("the impact of a change", /what depends on|impact/i, (turn) =>
    withSystem(
      turn,
      /(?:depends on|impact of|changing) (?:the )?([\w ]+)/i,
      (system) =>
        missing(turn, "get_impact_analysis", { systemId: system["id"] }) ??
        text(`That is what a change of **${String(system["name"])}** reaches.`),
    ),
  ),
  talk("a deletion", /\b(?:delete|remove) (?:the )?(?:system )?([\w ]+)/i, (turn) =>
    withSystem(
      turn,
      /\b(?:delete|remove) (?:the )?(?:system )?([\w ]+)/i,
      ({ id, name, revision }) =>
        missing(turn, "delete_game_system", { systemId: id, revision }) ??
        text(`**${String(name)}** is in the bin. Select Undo, or restore it there within 30 days.`),
    ),
  ),
  talk("a thread of ideas", /\bthread about (?:the )?([^.?!]+)/i, (turn) => {
    const topic = /\bthread about (?:the )?([^.?!]+)/i.exec(turn.question)?.[1] ?? "an idea";
    const args = {
      projectId: turn.projectId,
      title: titleCase(topic),
      text: `What about ${topic}?`,
    };
    return missing(turn, "create_idea_thread", args) ?? text("The thread is open for everybody.");
  }),
  talk("threads that become a brainstorm", /\bthreads?\b.*\bbrainstorm/i, (turn) => {
    const { projectId } = turn;
    const threads = itemsOf(turn, "list_idea_threads").filter(({ status }) => status === "open");
    const threadIds = threads.map(({ id }) => id);
    return (
      missing(turn, "list_idea_threads", { projectId }) ??
      (threadIds.length === 0 ? text("There is no open thread. Start one first.") : undefined) ??
      missing(turn, "finalize_threads_to_brainstorm", {
        projectId,
        threadIds,
        title: "What we said",
      }) ??
      text("The threads are closed, and their ideas are in a brainstorm.")
    );
  }),
  talk("an import", /\bimport\b[^#]*#/i, (turn) => {
    const markdown = turn.question.slice(turn.question.indexOf("#"));
    return (
      missing(turn, "import_system_from_markdown", { projectId: turn.projectId, markdown }) ??
      text("The system is imported. Its card names what did not fit.")
    );
  }),
  talk("a document", /\b(?:design|requirements) document|\b(?:gdd|prd|export)\b/i, (turn) => {
    const kind = /requirements|prd/i.test(turn.question) ? "PRD" : "GDD";
    return (
      missing(turn, "generate_export", { projectId: turn.projectId, kind }) ??
      text("The document is made. You can download it under Exports.")
    );
  }),
  talk("a plan that becomes final", /\bfinali[sz]e (?:version )?([\d.]*\d)/i, (turn) => {
    const [, version] = /\bfinali[sz]e (?:version )?([\d.]*\d)/i.exec(turn.question) ?? [];
    const plan = itemsOf(turn, "list_version_plans").find((known) => known["version"] === version);
    return (
      missing(turn, "list_version_plans", { projectId: turn.projectId }) ??
      (plan ? undefined : text(`There is no plan of version ${version}.`)) ??
      missing(turn, "finalize_version_plan", {
        planId: plan?.["id"],
        revision: plan?.["revision"],
      }) ??
      text(`Version ${version} is final. To change it, copy it as a draft.`)
    );
  }),
  talk("the systems of a project", /\b(?:which|what|list|show)\b.*\bsystems\b/i, (turn) => {
    const names = itemsOf(turn, "list_game_systems").map(({ name }) => `- ${String(name)}`);
    return (
      missing(turn, "list_game_systems", { projectId: turn.projectId, limit: 100 }) ??
      text(names.length === 0 ? "It has no system yet." : `It has these:\n\n${names.join("\n")}`)
    );
  }),
];

/** "Add a Combat Engine that requires Movement, then plan version 0.1" */
function addThenPlan(turn: Turn): OfflineAnswer {
  const { question, projectId } = turn;
  const [, added = "", needed = "", version = "0.1"] =
    /add (?:an? )?([\w ]+?) that requires ([\w ]+?)(?:,| and| then).*?plan (?:version )?([\d.]*\d)/is.exec(
      question,
    ) ?? [];
  const listed = missing(turn, "list_game_systems", { projectId, limit: 100 });
  if (listed) return listed;
  const known = itemsOf(turn, "list_game_systems");
  const needs = known.find(({ name }) => sameName(name, needed));
  const names = needs ? [added] : [needed, added];
  const created = missingEach(
    turn,
    "create_game_system",
    names.map((name) => newSystem(turn, name)),
  );
  if (created) return created;
  const made = dataOf(turn, "create_game_system").map(({ system }) => system as Json);
  const target = needs ?? made.find(({ name }) => sameName(name, needed));
  const source = made.find(({ name }) => sameName(name, added));
  if (!source || !target) return text("A system could not be made. Its card says why.");
  const ends = { sourceSystemId: source["id"], targetSystemId: target["id"], type: "requires" };
  const systemIds = [target["id"], source["id"]];
  return (
    missing(turn, "add_dependency", ends) ??
    missing(turn, "create_version_plan", {
      projectId,
      version,
      name: "First playable",
      systemIds,
    }) ??
    text(
      `**${titleCase(added)}** is there and requires **${titleCase(needed)}**. ` +
        `Version ${version} builds ${titleCase(needed)} first.`,
    )
  );
}

/** Makes a scenario whose answer is a function of the whole turn. */
function talk(name: string, asked: RegExp, answer: (turn: Turn) => OfflineAnswer): OfflineScenario {
  const step = (turn: OfflineTurn): OfflineAnswer =>
    turn.hasFailed ? GIVE_UP : answer({ ...turn, projectId: shownProject(turn.told) });
  return { name, asked, steps: [step] };
}

function shownProject(told: string): string | undefined {
  const projects = [...told.matchAll(/"page":"GamePlan","projectId":"([\w-]+)"/g)];
  return projects.at(-1)?.[1];
}

const GIVE_UP = text("That did not succeed. The card of the call says why.");

/** What the calls of one tool answered, as `result.data` of a ToolCallResult. */
function dataOf({ results }: Turn, tool: string): readonly Json[] {
  return results.flatMap((result) => {
    const { toolName, result: outcome } = result as { toolName?: string; result?: { data?: Json } };
    return toolName?.endsWith(tool) && outcome?.data ? [outcome.data] : [];
  });
}

function itemsOf(turn: Turn, tool: string): readonly Json[] {
  return dataOf(turn, tool).flatMap(({ items }) => items as Json[]);
}

/** Calls a tool, unless its result is there. */
function missing(turn: Turn, tool: string, args: Json): OfflineAnswer | undefined {
  return missingEach(turn, tool, [args]);
}

function missingEach(turn: Turn, tool: string, calls: readonly Json[]): OfflineAnswer | undefined {
  if (dataOf(turn, tool).length >= calls.length) return undefined;
  if (turn.projectId === undefined && tool !== "create_project") return NO_PROJECT;
  return {
    toolCalls: calls.map((args) => ({
      name: `gameplan__${tool}`,
      arguments: JSON.stringify(args),
    })),
  };
}

const NO_PROJECT = text(
  "I see no project. Open the page `/gameplan`, and say: Create a project called Dungeon Crawler.",
);

/** Finds the system that the question names, then goes on with it. */
function withSystem(
  turn: Turn,
  named: RegExp,
  next: (system: Json) => OfflineAnswer,
): OfflineAnswer {
  const listed = missing(turn, "list_game_systems", { projectId: turn.projectId, limit: 100 });
  if (listed) return listed;
  const name = named.exec(turn.question)?.[1] ?? "";
  const system = itemsOf(turn, "list_game_systems").find((known) => sameName(known["name"], name));
  return system ? next(system) : text(`There is no system **${name.trim()}**.`);
}

function sameName(known: unknown, asked: string): boolean {
  return (
    String(known).toLowerCase() ===
    asked
      .replace(/ system$/i, "")
      .trim()
      .toLowerCase()
  );
}

function newSystem({ projectId }: Turn, name: string): Json {
  const systemSlug = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  const purpose = `What the player does with ${name.trim().toLowerCase()}.`;
  return { projectId, name: titleCase(name.trim()), systemSlug, purpose, mvpCriticality: "core" };
}

function titleCase(words: string): string {
  return words.replace(/(^|\s)\S/g, (start) => start.toUpperCase());
}

export default scenarios;
