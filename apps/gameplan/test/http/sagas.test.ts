import { beforeAll, describe, expect, test } from "vitest";
import { read } from "../../../../test/shared/invoke.ts";
import {
  APPROVE,
  callOf,
  decide,
  openOf,
  viewOf,
  type Asked,
} from "../../../../test/shared/people.ts";
import { untilState } from "../../../../test/shared/run-object.ts";
import { script } from "../../../../test/fakes/scripted-model.ts";
import { postChat, runIdOf, send } from "../../../../test/shared/worker.ts";
import { callTool, dataOf, GAMEPLAN_IDS, GAMEPLAN_POLICY, governGameplan } from "../studio.ts";
import { governStudio } from "../../../../test/shared/workspaces.ts";

let projectId = "";
let systemIds: string[] = [];

beforeAll(async () => {
  await governGameplan();
  projectId = (await dataOf("ada", "create_project", { name: "Dungeon" })).project.id as string;
  const system = { projectId, name: "Combat", systemSlug: "combat" };
  systemIds = [(await dataOf("ada", "create_game_system", system)).system.id as string];
});

test("a version plan whose phases fail leaves no plan, only a discarded draft", async () => {
  const without = "gameplan__add_plan_phases";
  const allowedTools = GAMEPLAN_IDS.filter((id) => id !== without);
  await governStudio({ ...GAMEPLAN_POLICY, allowedTools });
  const args = { projectId, version: "0.1", systemIds };
  const { status, result_payload: payload } = await callTool("ada", "create_version_plan", args);
  expect(status.taxonomy_class).toBe("POLICY_VIOLATION");
  expect(payload.errors.at(-1)?.code).toBe("saga_undone");
  await governGameplan();
  expect((await dataOf("ada", "list_version_plans", { projectId })).total).toBe(0);
  // The version is free again.
  const { plan } = await dataOf("ada", "create_version_plan", args);
  expect(plan).toMatchObject({ version: "0.1", revision: 1, systems: 1, phases: [{ number: 1 }] });
});

test("a version plan that is refused leaves not even a draft", async () => {
  const activity = async (): Promise<number> =>
    (await dataOf("ada", "get_project_activity", { projectId })).total as number;
  const before = await activity();
  const args = {
    projectId,
    version: "0.2",
    systemIds,
    phases: [{ name: "One", systemIds: ["x"] }],
  };
  const { result_payload: payload } = await callTool("ada", "create_version_plan", args);
  expect(payload.errors.map(({ code }) => code)).toEqual(["validation", "saga_undone"]);
  expect(await activity()).toBe(before);
});

const FINALIZE = "gameplan__finalize_threads_to_brainstorm";

/** Starts a thread with so many messages, and answers its id. */
async function startThread(title: string, messages: number): Promise<string> {
  const { thread } = await dataOf("ada", "create_idea_thread", { projectId, title, text: "One" });
  const threadId = thread.id as string;
  for (let made = 1; made < messages; made++) {
    await dataOf("ada", "post_idea_message", { threadId, text: "More" });
  }
  return threadId;
}

/** Reads what everybody sees of a thread. */
async function statusOf(threadId: string): Promise<object> {
  const { thread } = await dataOf("ada", "get_thread_messages", { threadId });
  return { status: thread.status, brainstormId: thread.brainstormId };
}

const OPEN = { status: "open", brainstormId: null };

/** Lets the model finalize threads, and waits until a person is asked. */
async function askToFinalize(threadIds: readonly string[], title: string): Promise<Asked> {
  const content = script({ calls: [callOf(FINALIZE, { projectId, threadIds, title })] });
  const response = await postChat(
    { messages: [{ role: "user", content }], workspaceId: "studio" },
    "ada",
  );
  await response.text();
  const runId = runIdOf(response);
  const [approvalId = "none"] = openOf(await untilState(runId, { status: "waiting" }, "ada"));
  return { runId, approvalId, response };
}

async function approve({ approvalId }: Asked): Promise<void> {
  expect((await decide(approvalId, "ada", APPROVE)).status).toBe(200);
}

describe("the finalization of threads", () => {
  test("shows the person the titles of the threads, and how many messages each has", async () => {
    const threadIds = [await startThread("Bosses", 3), await startThread("Loot", 1)];
    const asked = await askToFinalize(threadIds, "Boss day");
    const { packet } = await viewOf(asked.approvalId, "ada");
    const threads = ["Bosses (3 messages)", "Loot (1 message)"];
    expect(packet).toMatchObject({
      workspaceId: "studio",
      actionName: { title: 'Make brainstorm "Boss day" of 2 idea threads', tool: FINALIZE },
      beforeState: { threads, status: "open" },
      afterState: { threads, status: "finalized", brainstorm: "Boss day" },
      compensation: { reversible: true, tool: "gameplan__reopen_threads" },
      steps: [{ tool: "gameplan__lock_threads" }, { tool: "gameplan__merge_threads" }],
    });
    expect(await Promise.all(threadIds.map(statusOf))).toEqual([OPEN, OPEN]);
    await approve(asked);
    const { toolCalls } = await untilState(asked.runId, { status: "completed" }, "ada");
    expect(toolCalls.map(({ name, state }) => [name, state])).toEqual([
      [FINALIZE, "COMPLETED"],
      ["gameplan__lock_threads", "COMPLETED"],
      ["gameplan__merge_threads", "COMPLETED"],
    ]);
    const [status] = await Promise.all(threadIds.map(statusOf));
    expect(status).toMatchObject({ status: "finalized", brainstormId: expect.any(String) });
  });

  test("is taken back as a whole, also by a person who has several workspaces", async () => {
    const threadId = await startThread("Undone", 1);
    await governStudio({
      ...GAMEPLAN_POLICY,
      workspaces: { ...GAMEPLAN_POLICY.workspaces, attic: { actors: ["user:ada"] } },
    });
    const asked = await askToFinalize([threadId], "Taken back");
    await approve(asked);
    await untilState(asked.runId, { status: "completed" }, "ada");
    const path = `/v1/runs/${asked.runId}/invocations/inv_1/compensate`;
    const undone = await read(await send(path, { caller: "ada", method: "POST" }));
    expect(undone).toMatchObject({
      status: 200,
      observation: { status: { taxonomy_class: "SUCCESS" } },
    });
    await governGameplan();
    expect(await statusOf(threadId)).toEqual(OPEN);
  });

  test("that fails in the middle opens the threads again", async () => {
    const threadId = await startThread("Half", 1);
    const allowedTools = GAMEPLAN_IDS.filter((id) => id !== "gameplan__merge_threads");
    await governStudio({ ...GAMEPLAN_POLICY, allowedTools });
    const args = { projectId, threadIds: [threadId], title: "Never" };
    const failed = await callTool("ada", "finalize_threads_to_brainstorm", args);
    expect(failed.result_payload.errors.at(-1)?.code).toBe("saga_undone");
    await governGameplan();
    expect(await statusOf(threadId)).toEqual(OPEN);
    await dataOf("ada", "post_idea_message", { threadId, text: "It goes on" });
  });

  test("asks nobody about a closed thread, and does nothing once another run closed it", async () => {
    const threadId = await startThread("Twice", 1);
    const first = await askToFinalize([threadId], "First");
    const second = await askToFinalize([threadId], "Second");
    await approve(first);
    await untilState(first.runId, { status: "completed" }, "ada");
    // A vote for what became impossible is refused, and closes the question.
    expect((await decide(second.approvalId, "ada", APPROVE)).status).toBe(409);
    const late = await untilState(second.runId, { status: "completed" }, "ada");
    expect(late.toolCalls).toMatchObject([{ name: FINALIZE, state: "FAILED_FINAL" }]);
    expect(late.toolCalls).toHaveLength(1);
    const args = { projectId, threadIds: [threadId], title: "Third" };
    const refused = await callTool("ada", "finalize_threads_to_brainstorm", args);
    expect([refused.asked, refused.result_payload.errors[0]?.code]).toEqual([false, "conflict"]);
  });
});
