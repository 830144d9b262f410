import { expect, test } from "vitest";
import { createBrainstorm } from "../../../src/tools/gameplan/brainstorm/create-brainstorm.ts";
import { deleteBrainstorm } from "../../../src/tools/gameplan/brainstorm/delete-brainstorm.ts";
import { listBrainstorms } from "../../../src/tools/gameplan/brainstorm/list-brainstorms.ts";
import { createIdeaThread } from "../../../src/tools/gameplan/idea-stream/create-idea-thread.ts";
import { finalizeThreads } from "../../../src/tools/gameplan/idea-stream/finalize-threads.ts";
import { getThreadMessages } from "../../../src/tools/gameplan/idea-stream/get-thread-messages.ts";
import { listIdeaThreads } from "../../../src/tools/gameplan/idea-stream/list-idea-threads.ts";
import { markThreadRead } from "../../../src/tools/gameplan/idea-stream/mark-thread-read.ts";
import { postIdeaMessage } from "../../../src/tools/gameplan/idea-stream/post-idea-message.ts";
import { reopenThreads } from "../../../src/tools/gameplan/idea-stream/reopen-threads.ts";
import { getProject } from "../../../src/tools/gameplan/project/get-project.ts";
import { startProject } from "./start-project.ts";

test("unread messages count for each person", () => {
  const { workspace, projectId } = startProject();
  const start = { projectId, title: "Boss ideas", text: "A dragon?" };
  const { thread } = workspace.call(createIdeaThread, start);
  const threadId = thread.id;
  workspace.call(postIdeaMessage, { threadId, text: "Two dragons" }, "user:bob");
  const unread = (person: string) =>
    workspace.call(listIdeaThreads, { projectId }, person).items[0]?.unreadCount;
  expect(["user:ann", "user:bob", "user:cat"].map(unread)).toEqual([1, 0, 2]);
  workspace.call(markThreadRead, { threadId, number: 1 }, "user:cat");
  expect(unread("user:cat")).toBe(1);
  workspace.call(markThreadRead, { threadId, number: 99 }, "user:cat");
  workspace.call(markThreadRead, { threadId, number: 1 }, "user:cat");
  workspace.call(postIdeaMessage, { threadId, text: "Three" });
  expect(unread("user:cat")).toBe(1);
  expect(workspace.call(getProject, { projectId }, "user:cat").counts.unreadMessages).toBe(1);
  const { items } = workspace.call(getThreadMessages, { threadId, limit: 2 });
  expect(items.map(({ author, text }) => `${author} ${text}`)).toEqual([
    "user:ann A dragon?",
    "user:bob Two dragons",
  ]);
});

test("threads become a brainstorm, which opens them again when it is taken back", () => {
  const { workspace, projectId } = startProject();
  const { thread } = workspace.call(createIdeaThread, {
    projectId,
    title: "Bosses",
    text: "Idea: a dragon\nDecision: it flies\nHow high?",
  });
  const args = { projectId, threadIds: [thread.id], title: "Boss day" };
  const { brainstorm, threads } = workspace.call(finalizeThreads, args);
  expect(threads).toMatchObject([{ status: "finalized", brainstormId: brainstorm.id }]);
  expect(brainstorm.content).toContain("## Bosses");
  expect(brainstorm.outputs).toEqual([
    { kind: "decision", text: "it flies" },
    { kind: "question", text: "How high?" },
  ]);
  const post = { threadId: thread.id, text: "More" };
  expect(workspace.refusal(postIdeaMessage, post)).toBe("conflict");
  expect(workspace.refusal(finalizeThreads, args)).toBe("conflict");
  const taken = { brainstormId: brainstorm.id, revision: 1 };
  const back = workspace.call(reopenThreads, taken);
  expect(back.threads).toMatchObject([{ status: "open", brainstormId: null }]);
  workspace.call(postIdeaMessage, post);
});

test("a brainstorm is found by its tag, and deleted by its author or the project's", () => {
  const { workspace, projectId } = startProject();
  const notes = {
    projectId,
    title: "Day one",
    content: "- swords\n- What else?",
    tags: ["combat"],
  };
  const { brainstorm } = workspace.call(createBrainstorm, notes, "user:bob");
  expect(brainstorm).toMatchObject({ author: "user:bob", outputs: [{ kind: "idea" }, {}] });
  const found = workspace.call(listBrainstorms, { projectId, tag: "combat" });
  expect(found).toMatchObject({ total: 1, items: [{ outputs: 2 }] });
  expect(workspace.call(listBrainstorms, { projectId, tag: "art" }).total).toBe(0);
  const brainstormId = brainstorm.id;
  expect(workspace.refusal(deleteBrainstorm, { brainstormId }, "user:cat")).toBe("forbidden");
  workspace.call(deleteBrainstorm, { brainstormId });
});
