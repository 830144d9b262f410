import { expect, test } from "vitest";
import { getBoard } from "../../tools/board/get-board.ts";
import { getDependencyGraph } from "../../tools/dependency/get-dependency-graph.ts";
import { listGameSystems } from "../../tools/game-system/list-game-systems.ts";
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

test("a board of 1,000 systems and 3,000 dependencies reads what it shows, and no more", () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `S${n}`);
  const { workspace, projectId, ids } = startProject(...names);
  workspace.fill(`
    INSERT INTO dependencies
      (id, project_id, revision, created_at, created_by, source_id, target_id, type)
    SELECT 'd' || a.seq || '-' || b.seq, a.project_id, 1, 0, 'user:ann', a.id, b.id, 'enhances'
    FROM systems a JOIN systems b ON b.seq - a.seq IN (2, 3)`);
  expect(workspace.count("dependencies")).toBe(2_994);
  workspace.rowsRead = 0;
  const board = workspace.call(getBoard, { projectId, near: ids[500] ?? "" });
  expect([board.nodes.length, board.nodeTotal]).toEqual([300, 1_000]);
  expect(board.edges.length).toBeLessThanOrEqual(1_200);
  expect(workspace.rowsRead).toBeLessThan(2_500);
  expect(bytesOf(board)).toBeLessThan(MOST_BYTES);
  // The nearest ones: about as many on both sides.
  const shown = board.nodes.map(({ name }) => Number(name.slice(1)));
  expect(shown.filter((n) => n < 500).length).toBeGreaterThan(100);
  expect(Math.max(...shown.map((n) => Math.abs(n - 500)))).toBeLessThan(200);
});
