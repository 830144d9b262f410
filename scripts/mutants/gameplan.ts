import type { Mutant } from "./mutant.ts";

const GRAPH = "apps/gameplan/test/tools/graph.node.test.ts";
const BIN = "apps/gameplan/test/tools/bin.node.test.ts";
const IDEAS = "apps/gameplan/test/tools/ideas.node.test.ts";
const SYSTEMS = "apps/gameplan/test/tools/systems.node.test.ts";

const THREADS =
  "the steps that finalize threads take each other back, and nothing that others made";
const HOSTILE = "apps/gameplan/test/tools/hostile-markdown.node.test.ts";

const STEPS = "the steps of a plan take each other back, and only on a draft that nobody changed";
const PLAN = "a plan has phases, is finalized once, and is copied to be changed";

/** What keeps the data of GamePlan in order, and within its tenant. */
export const GAMEPLAN: readonly Mutant[] = [
  {
    name: "who is no member uses the tools",
    file: "src/protocol/policy/membership.ts",
    from: "return isActorIn && isSubjectIn;",
    to: "return isActorIn || isSubjectIn;",
    test: {
      file: "apps/gameplan/test/http/tools.test.ts",
      name: "a caller who is no member of the workspace is refused before the tool runs",
    },
  },
  {
    name: "the importer tries a long line again and again",
    file: "apps/gameplan/tools/markdown/split-sections.ts",
    from: "const HEADING = /^ {0,3}(#{1,6})[ \\t](.*)/s;",
    to: "const HEADING = /^ {0,3}(#{1,6})[ \\t]+(.*)$/;",
    test: {
      file: HOSTILE,
      name: "the importer reads a heading with a line separator without trying it again and again",
    },
  },
  {
    name: "a line that is no mark opens a code block in an exported document",
    file: "apps/gameplan/tools/markdown/fence.ts",
    from: 'return mark.startsWith("`") && rest.includes("`") ? undefined : mark;',
    to: "return mark;",
    test: { file: HOSTILE, name: "a mark that opens no code block" },
  },
  {
    name: "a line that is no mark closes a code block in an exported document",
    file: "apps/gameplan/tools/markdown/fence.ts",
    from: 'mark.startsWith(open) && rest.trim() === ""',
    to: "mark.startsWith(open)",
    test: { file: HOSTILE, name: "a mark that closes no code block" },
  },
  {
    name: "a code block in a list hides what follows the list",
    file: "apps/gameplan/tools/export/markdown-text.ts",
    from: "next === fence ? line : line.trimStart()",
    to: "line",
    test: { file: HOSTILE, name: "a code block that ends with its list" },
  },
  {
    name: "a dependency may close a cycle",
    file: "apps/gameplan/tools/dependency/add-dependency.ts",
    from: "if (cycle) return refuseCycle(cycle);",
    to: "void cycle;",
    test: { file: GRAPH, name: "a dependency must not close a cycle, however long" },
  },
  {
    name: "a plan may lack what its systems require",
    file: "apps/gameplan/tools/version-plan/draft-version-plan.ts",
    from: "if (!scope.valid && args.allowIncomplete !== true) return refuseScope(scope);",
    to: "void refuseScope;",
    test: { file: GRAPH, name: "a scope lacks what its systems require, also through others" },
  },
  {
    name: "an incomplete plan is finalized",
    file: "apps/gameplan/tools/version-plan/finalize-version-plan.ts",
    from: "if (!scope.valid) return refuseScope(scope);",
    to: "void refuseScope;",
    test: {
      file: GRAPH,
      name: "an incomplete draft is kept when asked for, and cannot be finalized",
    },
  },
  {
    name: "a finalized plan is deleted",
    file: "apps/gameplan/tools/version-plan/delete-version-plan.ts",
    from: 'return countRows(sql, { table: "plans", where, bindings: [id] }) > 0',
    to: 'return countRows(sql, { table: "plans", where, bindings: [id] }) >= 0',
    test: { file: GRAPH, name: PLAN },
  },
  {
    name: "a step is undone on a plan that changed since",
    file: "apps/gameplan/tools/version-plan/clear-plan-phases.ts",
    from: "findPlan(sql, caller, { id, revision: expected })",
    to: "findPlan(sql, caller, { id, ...(expected < 0 && { revision: expected }) })",
    test: { file: GRAPH, name: STEPS },
  },
  {
    name: "the phases of a finalized plan are removed",
    file: "apps/gameplan/tools/version-plan/clear-plan-phases.ts",
    from: "if (!draft.ok) return draft;",
    to: "",
    test: { file: GRAPH, name: STEPS },
  },
  {
    name: "everybody deletes a project",
    file: "apps/gameplan/tools/rows/check-author.ts",
    from: 'if (entity === "project") return refuse("forbidden", "the author of the project");',
    to: 'if (entity === "project") return ok(null);',
    test: {
      file: BIN,
      name: "a project goes and comes back with all that it holds, by its author alone",
    },
  },
  {
    name: "everybody deletes a brainstorm",
    file: "apps/gameplan/tools/rows/check-author.ts",
    from: "project.ok && project.value.createdBy === caller.authorId",
    to: "project.ok",
    test: {
      file: IDEAS,
      name: "a brainstorm is found by its tag, and deleted by its author or the project's",
    },
  },
  {
    name: "an old revision does not stop a write",
    file: "apps/gameplan/tools/rows/entity-row.ts",
    from: "return revision === undefined || revision === found.value.revision",
    to: "return revision === undefined || revision > 0",
    test: { file: SYSTEMS, name: "a write with an old revision changes nothing" },
  },
  {
    name: "what one person has read counts for everybody",
    file: "apps/gameplan/tools/rows/thread-row.ts",
    from: "WHERE r.thread_id = threads.id AND r.person = ?1), 0)) AS unreadCount",
    to: "WHERE r.thread_id = threads.id), 0)) AS unreadCount",
    test: { file: IDEAS, name: "unread messages count for each person" },
  },
  {
    name: "the bin keeps rows for good",
    file: "apps/gameplan/tools/bin/put-into-bin.ts",
    from: "  removeExpired(sql, caller);",
    to: "  void removeExpired;",
    test: {
      file: BIN,
      name: "the bin keeps rows for 30 days, and the next deletion removes them for good",
    },
  },
  {
    name: "another tenant finds a row by its id",
    file: "apps/gameplan/tools/rows/entity-row.ts",
    from: "(SELECT id FROM projects WHERE tenant_id = ? AND deleted_at IS NULL)",
    to: "(SELECT id FROM projects WHERE ? <> '' AND deleted_at IS NULL)",
    test: { file: SYSTEMS, name: "another tenant reaches no row by any id" },
  },
  {
    name: "another tenant finds a project by its id",
    file: "apps/gameplan/tools/rows/project-row.ts",
    from: 'export const OWN_PROJECTS = "tenant_id = ? AND deleted_at IS NULL";',
    to: "export const OWN_PROJECTS = \"? <> '' AND deleted_at IS NULL\";",
    test: { file: SYSTEMS, name: "another tenant reaches no row by any id" },
  },
  {
    name: "a brainstorm is made of threads in which people still post",
    file: "apps/gameplan/tools/idea-stream/merge-threads.ts",
    from: 'status === "open" || brainstormId !== null',
    to: "status === null || brainstormId !== null",
    test: { file: IDEAS, name: THREADS },
  },
  {
    name: "a thread of a brainstorm is opened by the undoing of another step",
    file: "apps/gameplan/tools/idea-stream/unlock-threads.ts",
    from: "now !== expected || brainstormId !== null",
    to: "now !== expected",
    test: { file: IDEAS, name: THREADS },
  },
  {
    name: "a thread is opened that was closed again since",
    file: "apps/gameplan/tools/idea-stream/unlock-threads.ts",
    from: "now !== expected || brainstormId !== null",
    to: "brainstormId !== null",
    test: { file: IDEAS, name: THREADS },
  },
  {
    name: "threads are closed of which no brainstorm can be made",
    file: "apps/gameplan/tools/idea-stream/lock-threads.ts",
    from: "const opened = findOpenThreads(sql, caller, asked);",
    to: "const opened = findThreads(sql, caller, asked);\n    void findOpenThreads;",
    test: {
      file: IDEAS,
      name: "threads without messages, of another project or too long are refused before they close",
    },
  },
  {
    name: "a person approves a brainstorm without the titles of its threads",
    file: "apps/gameplan/tools/idea-stream/finalize-threads.ts",
    from: "const threads = found.value.threads.map((thread) => writeTitle(thread));",
    to: "const threads = threadIds.map((id) => writeTitle({ title: id, messageCount: 0 }));",
    test: {
      file: "apps/gameplan/test/http/sagas.test.ts",
      name: "shows the person the titles of the threads, and how many messages each has",
    },
  },
  {
    name: "a row that is gone can be restored some day",
    file: "apps/gameplan/tools/bin/restore.ts",
    from: "expected !== undefined && isGone(sql, entity, id) ? GONE : found",
    to: "found",
    test: { file: BIN, name: "cannot be undone once its row is removed for good" },
  },
  {
    name: "everybody reads which call of a colleague made a change",
    file: "apps/gameplan/tools/project/get-project-activity.ts",
    from: "line.actor === caller.authorId &&",
    to: "",
    test: {
      file: "apps/gameplan/test/http/history.test.ts",
      name: "a change names its call to its author alone, who can undo that very call",
    },
  },
];
