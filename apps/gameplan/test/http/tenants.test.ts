import { expect, test } from "vitest";
import { callTool, dataOf } from "../studio.ts";
import { invoke, read } from "../../../../test/shared/invoke.ts";
import type { Caller } from "../../../../test/shared/worker.ts";
import { BY_ID, OF_PEOPLE, useSecretProject } from "./secret-project.ts";

const secret = useSecretProject();
const { argsOf } = secret;

test.each(BY_ID.map(([tool, fields, rest = {}]) => ({ tool, fields, rest })))(
  "another tenant reaches nothing with $tool",
  async ({ tool, fields, rest }) => {
    const { result_payload: payload } = await callTool("dora", tool, argsOf(fields, rest));
    expect([payload.data, payload.errors[0]?.code]).toEqual([null, "not_found"]);
  },
);

async function invokeFor(caller: Caller, tool: string, args: object): Promise<string> {
  const key = `"${caller} ${tool}"`;
  return JSON.stringify(await read(await invoke(`gameplan__${tool}`, args, { caller, key })));
}

test.each(OF_PEOPLE)(
  "another tenant reaches nothing with a direct call of %s",
  async (tool, args) => {
    const answer = await invokeFor("dora", tool, args(secret.ids));
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
  const { threadId = "" } = secret.ids;
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
