import { beforeAll, expect, test } from "vitest";
import { callTool, dataOf, governGameplan } from "../studio.ts";
import { invoke, read } from "../../../../test/shared/invoke.ts";
import type { Caller } from "../../../../test/shared/worker.ts";

/** Ids of ada's rows, by the name of the argument that takes them. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  await governGameplan();
  await governGameplan("dora");
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
  ids = {
    projectId,
    systemId,
    sourceSystemId: systemId,
    targetSystemId: await add("Movement"),
    brainstormId: (await dataOf("ada", "create_brainstorm", notes)).brainstorm.id,
    planId: (await dataOf("ada", "create_version_plan", plan)).plan.id,
    threadId: (await dataOf("ada", "create_idea_thread", talk)).thread.id,
    exportId: (await dataOf("ada", "generate_export", document)).export.id,
  };
});

type Attempt = readonly [tool: string, ids: readonly string[], rest?: object];

/** Every tool that takes an id, and what else it needs. */
const BY_ID: readonly Attempt[] = [
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

const argsOf = (fields: readonly string[], rest = {}): object => ({
  ...Object.fromEntries(fields.map((field) => [field, ids[field]])),
  ...rest,
});

test.each(BY_ID.map(([tool, fields, rest = {}]) => ({ tool, fields, rest })))(
  "another tenant reaches nothing with $tool",
  async ({ tool, fields, rest }) => {
    const { result_payload: payload } = await callTool("dora", tool, argsOf(fields, rest));
    expect([payload.data, payload.errors[0]?.code]).toEqual([null, "not_found"]);
  },
);

/** Tools that only people call. */
const OF_PEOPLE: readonly (readonly [tool: string, args: () => object])[] = [
  ["list_bin", () => ({})],
  ["get_export", () => argsOf(["exportId"])],
  ["export_data", () => argsOf(["projectId"])],
  ["mark_thread_read", () => argsOf(["threadId"], { number: 1 })],
  ["restore", () => ({ entity: "system", id: ids["systemId"] })],
  ["discard", () => ({ entity: "system", id: ids["targetSystemId"], revision: 1 })],
  ["revert", () => ({ entity: "system", id: ids["systemId"], revision: 1 })],
  ["search_project", () => argsOf(["projectId"], { text: "a" })],
  ["edit_row", () => ({ entity: "idea_thread", id: ids["threadId"], revision: 1, title: "Spy" })],
  ["copy_version_plan", () => argsOf(["planId"], { version: "8" })],
];

async function invokeFor(caller: Caller, tool: string, args: object): Promise<string> {
  const key = `"${caller} ${tool}"`;
  return JSON.stringify(await read(await invoke(`gameplan__${tool}`, args, { caller, key })));
}

test.each(OF_PEOPLE)(
  "another tenant reaches nothing with a direct call of %s",
  async (tool, args) => {
    const answer = await invokeFor("dora", tool, args());
    expect(answer).not.toMatch(/secret|combat|movement/i);
    if (tool !== "list_bin") expect(answer).toContain("not_found");
  },
);

test("lists of another tenant are empty, and so is its search", async () => {
  expect(await dataOf("dora", "list_projects", {})).toMatchObject({ items: [], total: 0 });
});

test.each(["list_projects", "get_project"])(
  "who is no member of the workspace gets nothing with %s",
  async (tool) => {
    const args = tool === "get_project" ? argsOf(["projectId"]) : {};
    const { status, result_payload: payload } = await callTool("cleo", tool, args);
    expect([status.taxonomy_class, payload.data]).toEqual(["PERMISSION_DENIED", null]);
  },
);

test("a colleague sees and changes the project, and only its author deletes it", async () => {
  const seen = await dataOf("ben", "list_projects", {});
  expect(seen.items.map(({ name }: { name: string }) => name)).toEqual(["Secret dungeon"]);
  const { threadId = "" } = ids;
  expect(await dataOf("ben", "get_thread_messages", { threadId })).toMatchObject({
    thread: { unreadCount: 1 },
  });
  const posted = await dataOf("ben", "post_idea_message", { threadId, text: "Two" });
  expect(posted).toMatchObject({ message: { author: "user:ben" }, thread: { unreadCount: 0 } });
  const deletion = { ...argsOf(["projectId"]), revision: 1 };
  const { result_payload: payload } = await callTool("ben", "delete_project", deletion);
  expect(payload.errors[0]?.code).toBe("forbidden");
  expect(await dataOf("ada", "get_project", argsOf(["projectId"]))).toMatchObject({
    counts: { systems: 2, unreadMessages: 1 },
  });
});

test("what ada made is unchanged after all attempts", async () => {
  expect(await dataOf("ada", "get_project", argsOf(["projectId"]))).toMatchObject({
    project: { name: "Secret dungeon", revision: 1 },
    counts: { systems: 2, dependencies: 0, brainstorms: 1, draftPlans: 1, exports: 1 },
  });
});
