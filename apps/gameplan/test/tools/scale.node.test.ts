import { describe, expect, test } from "vitest";
import { restore } from "../../tools/bin/restore.ts";
import { getBoard } from "../../tools/board/get-board.ts";
import { addDependency } from "../../tools/dependency/add-dependency.ts";
import { getDependencyGraph } from "../../tools/dependency/get-dependency-graph.ts";
import { getImpactAnalysis } from "../../tools/dependency/get-impact-analysis.ts";
import { deleteGameSystem } from "../../tools/game-system/delete-game-system.ts";
import { getGameSystem } from "../../tools/game-system/get-game-system.ts";
import { listGameSystems } from "../../tools/game-system/list-game-systems.ts";
import { getThreadMessages } from "../../tools/idea-stream/get-thread-messages.ts";
import { listIdeaThreads } from "../../tools/idea-stream/list-idea-threads.ts";
import { getProjectActivity } from "../../tools/project/get-project-activity.ts";
import { validateVersionScope } from "../../tools/version-plan/validate-version-scope.ts";
import { startProject } from "./start-project.ts";

const MOST_BYTES = 262_144;
const bytesOf = (answer: object): number => Buffer.byteLength(JSON.stringify(answer));

test("a chain of 1,000 systems comes in pages that fit a result, each system once", () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `S${n}`);
  const { workspace, projectId } = startProject(...names);
  const seen: string[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const page: { nodes: { name: string }[]; nextOffset: number | null; levels: number } =
      workspace.call(getDependencyGraph, { projectId, offset, limit: 200 });
    expect(bytesOf(page)).toBeLessThan(MOST_BYTES);
    expect(page.levels).toBe(1_000);
    seen.push(...page.nodes.map(({ name }) => name));
    offset = page.nextOffset;
  }
  expect(seen).toEqual(names.toReversed());
  const list = workspace.call(listGameSystems, { projectId, limit: 100 });
  expect([list.items.length, list.total]).toEqual([100, 1_000]);
  expect(bytesOf(list)).toBeLessThan(MOST_BYTES);
});

describe("1,000 systems, 3,000 dependencies and 2,000 threads", () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `S${n}`);
  const { workspace, projectId, ids } = startProject(...names);
  const [leaf = "", middle = "", root = ""] = [ids[0], ids[500], ids[999]];
  workspace.fill(`
    INSERT INTO dependencies
      (id, project_id, revision, created_at, created_by, source_id, target_id, type)
    SELECT 'd' || a.seq || '-' || b.seq, a.project_id, 1, 0, 'user:ann', a.id, b.id, 'enhances'
    FROM systems a JOIN systems b ON b.seq - a.seq IN (2, 3)`);
  workspace.fill(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO threads
      (id, project_id, revision, created_at, created_by, title, status, last_number)
    SELECT 't' || i, '${projectId}', 1, 0, 'user:bob', 'Talk ' || i, 'open', 40 FROM n`);
  workspace.fill(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO messages
      (id, project_id, revision, created_at, created_by, thread_id, number, text)
    SELECT t.id || '-' || i, t.project_id, 1, 0, 'user:bob', t.id, i, 'Words'
    FROM threads t JOIN n WHERE t.seq % 20 = 0`);

  /** Calls an operation, and counts the rows that its queries answer. */
  function counting<Data extends object>(call: () => Data): Data & { readonly rowsRead: number } {
    workspace.rowsRead = 0;
    const answer = call();
    expect(bytesOf(answer)).toBeLessThan(MOST_BYTES);
    return { ...answer, rowsRead: workspace.rowsRead };
  }

  test("a board reads what it shows, the nearest ones, and no more", () => {
    expect([workspace.count("dependencies"), workspace.count("threads")]).toEqual([2_994, 2_000]);
    const board = counting(() => workspace.call(getBoard, { projectId, near: middle }));
    expect([board.nodes.length, board.nodeTotal]).toEqual([300, 1_000]);
    expect(board.edges.length).toBeLessThanOrEqual(1_200);
    expect(board.rowsRead).toBeLessThan(2_500);
    // The nearest ones: about as many on both sides.
    const shown = board.nodes.map(({ name }) => Number(name.slice(1)));
    expect(shown.filter((n) => n < 500).length).toBeGreaterThan(100);
    expect(Math.max(...shown.map((n) => Math.abs(n - 500)))).toBeLessThan(200);
  });

  test("a page of threads, the messages of a thread and a page of changes read a page", () => {
    const threads = counting(() => workspace.call(listIdeaThreads, { projectId, limit: 100 }));
    expect([threads.items.length, threads.total]).toEqual([100, 2_000]);
    expect(threads.rowsRead).toBeLessThan(110);
    const busy = threads.items.find(({ messageCount }) => messageCount > 0);
    expect(busy).toMatchObject({ messageCount: 40, unreadCount: 40 });
    const threadId = busy?.id ?? "";
    const talk = counting(() => workspace.call(getThreadMessages, { threadId }));
    expect([talk.items.length, talk.total]).toEqual([20, 40]);
    expect(talk.rowsRead).toBeLessThan(30);
    const changes = counting(() => workspace.call(getProjectActivity, { projectId, limit: 100 }));
    expect([changes.items.length, changes.rowsRead < 110]).toEqual([100, true]);
  });

  test("the page of a system reads what depends on that system, and no other one", () => {
    const rowsOf = (systemId: string): readonly number[] => {
      const impact = counting(() => workspace.call(getImpactAnalysis, { systemId }));
      const shown = counting(() => workspace.call(getGameSystem, { systemId }));
      return [impact.total, impact.rowsRead, shown.rowsRead];
    };
    const [reached = 0, rows = 0, own = 0] = rowsOf(ids[20] ?? "");
    expect(reached).toBe(20);
    // Three dependencies of each one that is reached, and its name.
    expect(rows).toBeLessThan(5 * reached);
    expect(own).toBeLessThan(20);
    const [nobody, few = 0] = rowsOf(leaf);
    expect([nobody, few < 10]).toEqual([0, true]);
    expect(rowsOf(root)[0]).toBe(999);
  });

  test("a dependency, a scope and a restored system read what they are about, and no whole graph", () => {
    const [early = "", late = ""] = [ids[20], ids[990]];
    // All that leads to the source: 20 systems, with 3 dependencies each.
    const link = { sourceSystemId: early, targetSystemId: late, type: "requires" as const };
    expect(counting(() => workspace.call(addDependency, link)).rowsRead).toBeLessThan(80);
    const circle = { sourceSystemId: early, targetSystemId: ids[10] ?? "", type: link.type };
    workspace.rowsRead = 0;
    expect(workspace.refusal(addDependency, circle)).toBe("validation");
    expect(workspace.rowsRead).toBeLessThan(80);
    // All that the system requires: 9 systems, with 3 dependencies each.
    const scope = counting(() =>
      workspace.call(validateVersionScope, { projectId, systemIds: [late] }),
    );
    expect([scope.scope.missingTotal, scope.rowsRead < 80]).toEqual([9, true]);
    workspace.call(deleteGameSystem, { systemId: early, revision: 1 });
    const back = { entity: "system" as const, id: early };
    expect(counting(() => workspace.call(restore, back)).rowsRead).toBeLessThan(80);
  });
});
