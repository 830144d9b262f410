import { expect, test } from "vitest";
import { DATA_FILES, parseData } from "../../page/data-files.ts";

const write = (kind: string, systems: readonly object[], dependencies: readonly object[] = []) =>
  DATA_FILES[kind]?.write(parseData(JSON.stringify({ systems, dependencies })));

const SYSTEMS = [
  { id: "a", projectId: "p1", name: "Movement", purpose: "Walks, runs.", revision: 2 },
  { id: "b", projectId: "p1", name: "Combat", purpose: "", revision: 1 },
];
const LINK = { sourceSystemId: "b", targetSystemId: "a", type: "requires" };

test("systems are a table, each with what it depends on", () => {
  expect(write("CSV", SYSTEMS, [LINK])).toBe(
    'id,name,purpose,dependsOn\r\na,Movement,"Walks, runs.",\r\nb,Combat,,requires Movement\r\n',
  );
});

test("dependencies are a graph", () => {
  const gone = { ...LINK, targetSystemId: "gone" };
  expect(write("Mermaid", SYSTEMS, [LINK, gone])).toBe(
    'graph LR\n  s1["Movement"]\n  s2["Combat"]\n  s2 -->|requires| s1\n',
  );
});

test("a name is no formula of a table, and no code of a graph", () => {
  const name = '=cmd|"x"]; click s1 "javascript:1"';
  expect(write("CSV", [{ id: "a", name }])).toContain('"\'=cmd|""x""]; click');
  expect(write("Mermaid", [{ id: "a", name }])).toBe(
    'graph LR\n  s1["=cmd|#34;x#34;]; click s1 #34;javascript:1#34;"]\n',
  );
});
