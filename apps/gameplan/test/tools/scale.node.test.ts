import { expect, test } from "vitest";
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
