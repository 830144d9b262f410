import { beforeAll } from "vitest";
import { dataOf, governGameplan } from "../studio.ts";

/** Ids of rows, by the name of the argument that takes them. */
export type Ids = Readonly<Record<string, string>>;

/** What the tests of a file have of the project that others should not reach. */
export interface SecretProject {
  readonly ids: Ids;
  /** Makes arguments of some ids, and of what else a tool needs. */
  readonly argsOf: (fields: readonly string[], rest?: object) => object;
}

/** Makes the project before the tests of a file, and the rights of two tenants. */
export function useSecretProject(): SecretProject {
  let ids: Ids = {};
  beforeAll(async () => {
    await governGameplan();
    await governGameplan("dora");
    ids = await makeSecretProject();
  });
  return {
    get ids() {
      return ids;
    },
    argsOf: (fields, rest) => pickIds(ids, fields, rest),
  };
}

/** Makes a project of ada, with one row of each kind. */
async function makeSecretProject(): Promise<Ids> {
  const { project } = await dataOf("ada", "create_project", { name: "Secret dungeon" });
  const projectId = project.id as string;
  const add = async (name: string): Promise<string> => {
    const system = { projectId, name, systemSlug: name.toLowerCase() };
    return (await dataOf("ada", "create_game_system", system)).system.id as string;
  };
  const systemId = await add("Combat");
  const notes = { projectId, title: "Secret day", content: "- swords" };
  const plan = { projectId, version: "0.1", systemIds: [systemId] };
  const talk = { projectId, title: "Secret boss", text: "A dragon?" };
  const document = { projectId, kind: "GDD" };
  return {
    projectId,
    systemId,
    sourceSystemId: systemId,
    targetSystemId: await add("Movement"),
    brainstormId: (await dataOf("ada", "create_brainstorm", notes)).brainstorm.id,
    planId: (await dataOf("ada", "create_version_plan", plan)).plan.id,
    threadId: (await dataOf("ada", "create_idea_thread", talk)).thread.id,
    exportId: (await dataOf("ada", "generate_export", document)).export.id,
  };
}

type Attempt = readonly [tool: string, ids: readonly string[], rest?: object];

/** Every tool that takes an id, and what else it needs. */
export const BY_ID: readonly Attempt[] = [
  ["get_project", ["projectId"]],
  ["update_project", ["projectId"], { name: "Taken" }],
  ["delete_project", ["projectId"], { revision: 1 }],
  ["get_project_activity", ["projectId"]],
  ["list_game_systems", ["projectId"]],
  ["get_game_system", ["systemId"]],
  ["create_game_system", ["projectId"], { name: "Spy", systemSlug: "spy" }],
  ["update_game_system", ["systemId"], { changeSummary: "x", name: "Taken" }],
  ["delete_game_system", ["systemId"], { revision: 1 }],
  ["import_system_from_markdown", ["projectId"], { markdown: "# Spy" }],
  ["list_brainstorms", ["projectId"]],
  ["get_brainstorm", ["brainstormId"]],
  ["create_brainstorm", ["projectId"], { title: "Spy", content: "x" }],
  ["delete_brainstorm", ["brainstormId"], { revision: 1 }],
  ["get_dependency_graph", ["projectId"]],
  ["add_dependency", ["sourceSystemId", "targetSystemId"], { type: "requires" }],
  ["remove_dependency", ["sourceSystemId", "targetSystemId"]],
  ["get_impact_analysis", ["systemId"]],
  ["list_version_plans", ["projectId"]],
  ["get_version_plan", ["planId"]],
  ["create_version_plan", ["projectId"], { version: "9", systemIds: ["x"] }],
  ["validate_version_scope", ["projectId"], { systemIds: ["x"] }],
  ["finalize_version_plan", ["planId"], { revision: 1 }],
  ["delete_version_plan", ["planId"], { revision: 1 }],
  ["list_idea_threads", ["projectId"]],
  ["get_thread_messages", ["threadId"]],
  ["create_idea_thread", ["projectId"], { title: "Spy" }],
  ["post_idea_message", ["threadId"], { text: "Spy" }],
  ["list_exports", ["projectId"]],
  ["generate_export", ["projectId"], { kind: "PRD" }],
];

/** Tools that only people call. */
export const OF_PEOPLE: readonly (readonly [tool: string, args: (ids: Ids) => object])[] = [
  ["list_bin", () => ({})],
  ["get_export", (ids) => pickIds(ids, ["exportId"])],
  ["export_data", (ids) => pickIds(ids, ["projectId"])],
  ["mark_thread_read", (ids) => pickIds(ids, ["threadId"], { number: 1 })],
  ["restore", (ids) => ({ entity: "system", id: ids["systemId"] })],
  ["discard", (ids) => ({ entity: "system", id: ids["targetSystemId"], revision: 1 })],
  ["revert", (ids) => ({ entity: "system", id: ids["systemId"], revision: 1 })],
  ["search_project", (ids) => pickIds(ids, ["projectId"], { text: "a" })],
  [
    "edit_row",
    (ids) => ({ entity: "idea_thread", id: ids["threadId"], revision: 1, title: "Spy" }),
  ],
  ["copy_version_plan", (ids) => pickIds(ids, ["planId"], { version: "8" })],
];

function pickIds(ids: Ids, fields: readonly string[], rest: object = {}): object {
  return { ...Object.fromEntries(fields.map((field) => [field, ids[field]])), ...rest };
}
