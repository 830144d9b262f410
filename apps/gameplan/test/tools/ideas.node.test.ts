import { expect, test } from "vitest";
import { createBrainstorm } from "../../tools/brainstorm/create-brainstorm.ts";
import { deleteBrainstorm } from "../../tools/brainstorm/delete-brainstorm.ts";
import { listBrainstorms } from "../../tools/brainstorm/list-brainstorms.ts";
import { createIdeaThread } from "../../tools/idea-stream/create-idea-thread.ts";
import type { Brainstorm } from "../../tools/entities/brainstorm.ts";
import type { IdeaThread } from "../../tools/entities/idea-thread.ts";
import { finalizeThreadsTool, previewThreads } from "../../tools/idea-stream/finalize-threads.ts";
import { lockThreads } from "../../tools/idea-stream/lock-threads.ts";
import { mergeThreads } from "../../tools/idea-stream/merge-threads.ts";
import { unlockThreads } from "../../tools/idea-stream/unlock-threads.ts";
import { getThreadMessages } from "../../tools/idea-stream/get-thread-messages.ts";
import { listIdeaThreads } from "../../tools/idea-stream/list-idea-threads.ts";
import { markThreadRead } from "../../tools/idea-stream/mark-thread-read.ts";
import { postIdeaMessage } from "../../tools/idea-stream/post-idea-message.ts";
import { reopenThreads } from "../../tools/idea-stream/reopen-threads.ts";
import { getProject } from "../../tools/project/get-project.ts";
import { makeSteps } from "./make-steps.ts";
import type { MemoryWorkspace } from "./memory-workspace.ts";
import { startProject } from "./start-project.ts";

interface Finalized {
  readonly brainstorm: Brainstorm;
  readonly threads: readonly IdeaThread[];
}

/** Makes the steps of the saga that finalizes threads, with the arguments that it gives them. */
function finalizeThreads(workspace: MemoryWorkspace, args: object): Finalized {
  const operations = [lockThreads, mergeThreads];
  return makeSteps(workspace, { saga: finalizeThreadsTool, operations }, args) as Finalized;
}

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
    text: "Idea: a dragon\n**Decision:** it **flies**\nHow high?",
  });
  const args = { projectId, threadIds: [thread.id], title: "Boss day" };
  const { brainstorm, threads } = finalizeThreads(workspace, args);
  expect(threads).toMatchObject([{ status: "finalized", brainstormId: brainstorm.id }]);
  expect(brainstorm.content).toContain("## Bosses");
  expect(brainstorm.outputs).toEqual([
    { kind: "idea", text: "a dragon" },
    { kind: "decision", text: "it flies" },
    { kind: "question", text: "How high?" },
  ]);
  const post = { threadId: thread.id, text: "More" };
  expect(workspace.refusal(postIdeaMessage, post)).toBe("conflict");
  const asked = { projectId, threadIds: args.threadIds };
  expect(workspace.refusal(previewThreads, asked)).toBe("conflict");
  expect(workspace.refusal(lockThreads, asked)).toBe("conflict");
  expect(workspace.refusal(mergeThreads, args)).toBe("conflict");
  const taken = { brainstormId: brainstorm.id, revision: 1 };
  const back = workspace.call(reopenThreads, taken);
  expect(back.threads).toMatchObject([{ status: "open", brainstormId: null }]);
  workspace.call(postIdeaMessage, post);
});

test("the steps that finalize threads take each other back, and nothing that others made", () => {
  const { workspace, projectId } = startProject();
  const { thread } = workspace.call(createIdeaThread, { projectId, title: "Bosses", text: "Yes" });
  const asked = { projectId, threadIds: [thread.id] };
  const merge = { ...asked, title: "Boss day" };
  expect(workspace.refusal(mergeThreads, merge)).toBe("conflict");
  const lock = (): { threads: { threadId: string; revision: number }[] } => {
    const { threads } = workspace.call(lockThreads, asked);
    return { threads: threads.map(({ id, revision }) => ({ threadId: id, revision })) };
  };
  const locked = lock();
  // A brainstorm that is being made lacks no message.
  expect(workspace.refusal(postIdeaMessage, { threadId: thread.id, text: "More" })).toBe(
    "conflict",
  );
  expect(workspace.call(unlockThreads, locked).threads).toMatchObject([{ status: "open" }]);
  expect(workspace.call(unlockThreads, locked).threads).toMatchObject([{ status: "open" }]);
  const again = lock();
  expect(workspace.refusal(unlockThreads, locked)).toBe("stale");
  const { brainstorm } = workspace.call(mergeThreads, merge);
  expect(workspace.refusal(unlockThreads, again)).toBe("stale");
  workspace.call(reopenThreads, { brainstormId: brainstorm.id, revision: brainstorm.revision });
  expect(workspace.call(unlockThreads, again).threads).toMatchObject([{ brainstormId: null }]);
});

test("threads without messages, of another project or too long are refused before they close", () => {
  const { workspace, projectId } = startProject();
  const { thread } = workspace.call(createIdeaThread, { projectId, title: "Empty" });
  const asked = { projectId, threadIds: [thread.id] };
  const refusals = (): (string | undefined)[] =>
    [previewThreads, lockThreads].map((operation) => workspace.refusal(operation, asked));
  expect(refusals()).toEqual(["validation", "validation"]);
  for (let messages = 0; messages < 16; messages++) {
    workspace.call(postIdeaMessage, { threadId: thread.id, text: "x".repeat(4_000) });
  }
  expect(refusals()).toEqual(["validation", "validation"]);
  const twice = { projectId, threadIds: [thread.id, thread.id] };
  expect(workspace.refusal(lockThreads, twice)).toBe("validation");
  expect(workspace.refusal(lockThreads, { ...asked, threadIds: ["nowhere"] })).toBe("not_found");
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
  expect(workspace.refusal(deleteBrainstorm, { brainstormId, revision: 1 }, "user:cat")).toBe(
    "forbidden",
  );
  workspace.call(deleteBrainstorm, { brainstormId, revision: 1 });
});
