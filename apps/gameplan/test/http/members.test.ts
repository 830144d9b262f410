import { expect, onTestFinished, test } from "vitest";
import { callTool, dataOf, GAMEPLAN_POLICY, governGameplan } from "../studio.ts";
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
import { governStudio } from "../../../../test/shared/workspaces.ts";
import { BY_ID, OF_PEOPLE, useSecretProject } from "./secret-project.ts";

const secret = useSecretProject();
const { argsOf } = secret;

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
    ...OF_PEOPLE.slice(1).map(([tool, args]) => [tool, args(secret.ids)] as const),
    ["restore", { entity: "system", id: secret.ids["systemId"], revision: 1 }],
    ["list_members", argsOf(["projectId"])],
    ["change_member", argsOf(["projectId"], { revision: 1, person: "user:ben", access: "owner" })],
    ["get_board", argsOf(["projectId"])],
  ] as const;
  const known = Object.values(secret.ids);
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
  expect(await scopeOf(secret.ids["systemId"])).toEqual(await scopeOf("no-such"));
  const boardOf = async (more: object) => {
    const args = { projectId, ...more };
    const key = `"${crypto.randomUUID()}"`;
    const answer = await read(await invoke("gameplan__get_board", args, { caller: "ben", key }));
    return answer.observation?.result_payload.data;
  };
  const board = JSON.stringify([
    await boardOf({ near: secret.ids["systemId"] }),
    await boardOf({ planId: secret.ids["planId"] }),
  ]);
  expect(board).toContain("Spy");
  expect(board).not.toMatch(/Movement|Combat/);
});

test("what is under way when somebody is removed has no effect", async () => {
  await setAccess("ada", "user:ben", "owner");
  const { system } = await dataOf("ada", "get_game_system", argsOf(["systemId"]));
  const deletion = { systemId: system.id, revision: system.revision };
  const asked = await chat([{ calls: [callOf("gameplan__delete_game_system", deletion)] }], "ada");
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
  const own = new Set(Object.values(secret.ids));
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
  expect((await setAccess("ada", "*", "owner")).code).toBe("validation");
  expect(await effects()).toEqual(before);
});

test("where the policy asks people about it, nobody is asked about what must be refused", async () => {
  await setAccess("ada", "user:ben", "member");
  const approvals = [{ tools: ["gameplan__change_member"], pattern: "user_consent" }];
  await governStudio({ ...GAMEPLAN_POLICY, approvals });
  onTestFinished(() => governGameplan());
  expect(await setAccess("ada", "user:ada", "none")).toMatchObject({
    status: 200,
    code: "conflict",
  });
  expect(await setAccess("ben", "user:ben", "owner")).toMatchObject({ code: "forbidden" });
  const asked = await setAccess("ada", "user:ben", "owner");
  expect([asked.status, openOf(await stateOf(asked.runId, "ada"))]).toEqual([
    202,
    [expect.any(String)],
  ]);
  await send(`/v1/runs/${asked.runId}/cancel`, { caller: "ada", method: "POST" });
});

test("an owner gives up the right through another owner alone, and a name that nobody has is none", async () => {
  await setAccess("ada", "user:nobody", "owner");
  expect((await setAccess("ada", "user:ada", "member")).code).toBe("conflict");
  await setAccess("ada", "user:ben", "owner");
  expect(await setAccess("ben", "user:ada", "member")).toMatchObject({ status: 200 });
  expect((await setAccess("ada", "user:ada", "owner")).code).toBe("forbidden");
  const listed = await read(
    await invoke("gameplan__list_members", argsOf(["projectId"]), { caller: "ada" }),
  );
  expect(listed.observation?.result_payload.data).toMatchObject({
    result: { data: { isOwner: false, items: expect.arrayContaining([MEMBER_ADA]) } },
  });
});

const MEMBER_ADA = { person: "user:ada", access: "member" };

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
