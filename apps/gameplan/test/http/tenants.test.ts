import { beforeAll, describe, expect, test } from "vitest";
import { callTool, dataOf, governGameplan } from "../studio.ts";
import { invoke, read } from "../../../../test/shared/invoke.ts";
import { APPROVE, callOf, decide, openOf } from "../../../../test/shared/people.ts";
import {
  chat,
  chunksOf,
  runIdOf,
  send,
  stateOf,
  type Caller,
} from "../../../../test/shared/worker.ts";

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

describe("who is in a project", () => {
  /** Says what a person may do in ada's project; answers the code of a refusal. */
  async function setAccess(caller: Caller, person: string, access: string, known = 0) {
    const reader = caller === "ben" ? "ben" : "ada";
    const { revision } = (await dataOf(reader, "get_project", argsOf(["projectId"]))).project;
    const args = argsOf(["projectId"], { revision: known || revision, person, access });
    const key = `"${crypto.randomUUID()}"`;
    const answer = await read(await invoke("gameplan__change_member", args, { caller, key }));
    return { ...answer, code: answer.observation?.result_payload.errors[0]?.code };
  }

  /** What ada's project has and what happened in it. */
  const effects = async (caller: Caller = "ada"): Promise<readonly unknown[]> => {
    const { project, counts } = await dataOf(caller, "get_project", argsOf(["projectId"]));
    const { total } = await dataOf(caller, "get_project_activity", argsOf(["projectId"]));
    return [project, counts, total];
  };

  const follow = (caller: Caller, after: string): Promise<Response> =>
    send("/v1/workspaces/gameplan/studio/changes", { caller, headers: { "last-event-id": after } });

  test("a removed colleague reaches with no tool more than with an unknown id", async () => {
    expect(await setAccess("ada", "user:ben", "none")).toMatchObject({ status: 200 });
    const before = await effects();
    const direct = async (tool: string, args: object): Promise<unknown> => {
      const key = `"${crypto.randomUUID()}"`;
      const answer = await read(await invoke(`gameplan__${tool}`, args, { caller: "ben", key }));
      const { status, observation } = answer;
      const { data, errors } = observation?.result_payload ?? {};
      return JSON.stringify([status, data, errors]);
    };
    const all = [
      ...BY_ID.map(([tool, fields, rest]) => [tool, argsOf(fields, rest)] as const),
      ...OF_PEOPLE.slice(1).map(([tool, args]) => [tool, args()] as const),
      ["restore", { entity: "system", id: ids["systemId"], revision: 1 }],
      ["list_members", argsOf(["projectId"])],
      [
        "change_member",
        argsOf(["projectId"], { revision: 1, person: "user:ben", access: "owner" }),
      ],
      ["get_board", argsOf(["projectId"])],
    ] as const;
    const known = Object.values(ids);
    for (const [tool, args] of all) {
      const text = JSON.stringify(args);
      const unknown = known.reduce((made, id) => made.replaceAll(id, "no-such"), text);
      const [own, none] = [await direct(tool, args), await direct(tool, JSON.parse(unknown))];
      expect([tool, own]).toEqual([tool, none]);
    }
    for (const list of ["list_projects", "list_bin"]) {
      expect(await direct(list, {})).toContain('"items":[],"total":0');
    }
    expect(await effects()).toEqual(before);
  });

  test("a document, a plan and the board of a removed colleague find none of its systems", async () => {
    await setAccess("ada", "user:ben", "none");
    const { project } = await dataOf("ben", "create_project", { name: "Own" });
    const projectId = project.id as string;
    const markdown = "# Spy\n## Depends on\n- Movement\n- Nowhere";
    const document = { projectId, markdown };
    const { system, warnings } = await dataOf("ben", "import_system_from_markdown", document);
    const says = "names no system, several, or one too many.";
    expect(warnings).toEqual([`"Movement" ${says}`, `"Nowhere" ${says}`]);
    const { dependsOn } = await dataOf("ben", "get_game_system", { systemId: system.id });
    expect(dependsOn).toEqual([]);
    const scopeOf = async (id = "") => {
      const args = { projectId, systemIds: [system.id, id] };
      const { result_payload: payload } = await callTool("ben", "validate_version_scope", args);
      return [payload.data, payload.errors];
    };
    expect(await scopeOf(ids["systemId"])).toEqual(await scopeOf("no-such"));
    const boardOf = async (more: object) => {
      const args = { projectId, ...more };
      const key = `"${crypto.randomUUID()}"`;
      const answer = await read(await invoke("gameplan__get_board", args, { caller: "ben", key }));
      return answer.observation?.result_payload.data;
    };
    const board = JSON.stringify([
      await boardOf({ near: ids["systemId"] }),
      await boardOf({ planId: ids["planId"] }),
    ]);
    expect(board).toContain("Spy");
    expect(board).not.toMatch(/Movement|Combat/);
  });

  test("what is under way when somebody is removed has no effect", async () => {
    await setAccess("ada", "user:ben", "owner");
    const { system } = await dataOf("ada", "get_game_system", argsOf(["systemId"]));
    const deletion = { systemId: system.id, revision: system.revision };
    const asked = await chat(
      [{ calls: [callOf("gameplan__delete_game_system", deletion)] }],
      "ada",
    );
    const runId = runIdOf(asked);
    await chunksOf(asked);
    const [approvalId = ""] = openOf(await stateOf(runId, "ada"));
    const before = await effects("ben");
    await setAccess("ben", "user:ada", "none");
    expect((await decide(approvalId, "ada", APPROVE)).status).toBe(409);
    await setAccess("ben", "user:ada", "owner");
    const [, counts] = await effects("ben");
    expect(counts).toEqual(before[1]);
    expect(await dataOf("ben", "get_game_system", argsOf(["systemId"]))).toMatchObject({ system });
  });

  test("an open stream of changes falls silent about the project, and its past is withheld", async () => {
    await setAccess("ada", "user:ben", "member");
    const [seeing, blind] = [await follow("ada", "0"), await follow("ben", "0")];
    await setAccess("ada", "user:ben", "none");
    const { project } = await dataOf("ada", "create_project", { name: "For everybody" });
    const late = await follow("ben", "0");
    const heard = async (stream: Response): Promise<readonly string[]> => {
      const events = await readUntil(stream, project.id);
      return [...events.matchAll(/"entity":"(\w+)","id":"([^"]+)"/g)].map(([, , id]) => id ?? "");
    };
    const own = new Set(Object.values(ids));
    const [all, cut, past] = [await heard(seeing), await heard(blind), await heard(late)];
    expect(all.filter((id) => own.has(id)).length).toBeGreaterThan(0);
    // What came before the removal was sent before it; of the removal itself only that it was.
    expect(cut.slice(cut.lastIndexOf("user:ben"))).toEqual(["user:ben", project.id]);
    expect(past.filter((id) => own.has(id))).toEqual([]);
  });

  test("only an owner says who is in it, never of the last owner, and nobody raises themselves", async () => {
    await setAccess("ada", "user:ben", "member");
    const before = await effects();
    expect((await setAccess("ben", "user:ben", "owner")).code).toBe("forbidden");
    expect((await setAccess("ben", "user:ada", "none")).code).toBe("forbidden");
    expect((await setAccess("ada", "user:ada", "member")).code).toBe("conflict");
    expect((await setAccess("ada", "user:ada", "none")).code).toBe("conflict");
    expect((await setAccess("ada", "user:ben", "none", 1)).code).toBe("stale");
    expect((await setAccess("dora", "user:dora", "owner")).code).toBe("not_found");
    expect(await effects()).toEqual(before);
  });

  test("who gave up their right does not get it back by Undo", async () => {
    await setAccess("ada", "user:ben", "owner");
    const left = await setAccess("ada", "user:ada", "member");
    const [call] = (await stateOf(left.runId, "ada")).toolCalls;
    const path = `/v1/runs/${left.runId}/invocations/${call?.invocationId}/compensate`;
    await send(path, { caller: "ada", method: "POST" });
    const list = async () =>
      (await read(await invoke("gameplan__list_members", argsOf(["projectId"]), { caller: "ada" })))
        .observation?.result_payload.data;
    expect(await list()).toMatchObject({
      result: {
        data: {
          isOwner: false,
          items: [
            { person: "user:ben", access: "owner" },
            { person: "*", access: "member" },
            { person: "user:ada", access: "member" },
          ],
        },
      },
    });
  });
});

/** Reads a stream until a text comes. */
async function readUntil(stream: Response, text: string): Promise<string> {
  const reader = stream.body?.getReader();
  let events = "";
  while (!events.includes(text)) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    events += new TextDecoder().decode(value as Uint8Array);
  }
  await reader?.cancel();
  return events;
}
