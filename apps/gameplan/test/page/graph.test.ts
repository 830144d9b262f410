import { describe, expect, it } from "vitest";
import { cutGraph, type Graph, readGraph } from "../../page/graph/graph.ts";
import { layOut, NODE } from "../../page/graph/layout.ts";
import { drawPicture } from "../../page/graph/picture.ts";

const node = (id: string) => ({ id, name: id, criticality: "core", status: "draft" });
const graphOf = (ids: readonly string[], ...edges: readonly string[]): Graph => ({
  nodes: ids.map(node),
  edges: edges.map((edge) => {
    const [from = "", to = ""] = edge.split(">");
    return { from, to, type: "requires" };
  }),
});

describe("the layout of a dependency graph", () => {
  it("puts a system right of everything that it depends on", () => {
    const { nodes } = layOut(
      graphOf(["move", "fight", "loot", "shop"], "fight>move", "loot>fight", "shop>move"),
    );
    const x = Object.fromEntries(nodes.map(({ id, x: left }) => [id, left]));
    expect(x["fight"]).toBeGreaterThan(x["move"] ?? 0);
    expect(x["loot"]).toBeGreaterThan(x["fight"] ?? 0);
    expect(x["shop"]).toBe(x["fight"]);
  });

  it("has no two systems at one place, and all of them within the picture", () => {
    const ids = Array.from({ length: 60 }, (_, at) => `s${at}`);
    const edges = ids.slice(1).flatMap((id, at) => [`${id}>s${Math.floor(at / 3)}`, `${id}>s0`]);
    const { nodes, width, height } = layOut(graphOf(ids, ...edges));
    expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(60);
    for (const { x, y } of nodes) {
      expect(x >= 0 && y >= 0).toBe(true);
      expect(x + NODE.width <= width && y + NODE.height <= height).toBe(true);
    }
  });

  it("orders a column by its neighbours, so that lines cross less", () => {
    const { nodes } = layOut(graphOf(["a", "b", "c", "d"], "d>a", "c>b"));
    const y = Object.fromEntries(nodes.map(({ id, y: top }) => [id, top]));
    expect((y["d"] ?? 0) < (y["c"] ?? 0)).toBe((y["a"] ?? 0) < (y["b"] ?? 0));
  });

  it("leads a line around the systems that it has nothing to do with", () => {
    const { nodes, edges } = layOut(
      graphOf(["move", "bag", "room", "loot"], "room>move", "loot>room", "loot>bag"),
    );
    const room = nodes.find(({ id }) => id === "room");
    const passing = edges.find(({ from, to }) => from === "loot" && to === "bag");
    expect(passing?.lanes.map(({ x }) => x)).toEqual([room?.x]);
    const [lane] = passing?.lanes ?? [];
    expect(Math.abs((lane?.y ?? 0) - (room?.y ?? 0) - NODE.height / 2)).toBeGreaterThan(
      NODE.height / 2,
    );
    expect(nodes).toHaveLength(4);
  });

  it("ends for a cycle, an edge to nowhere and an empty graph", () => {
    expect(layOut(graphOf(["a", "b"], "a>b", "b>a")).nodes).toHaveLength(2);
    expect(layOut(graphOf(["a"], "a>gone")).edges).toEqual([]);
    expect(layOut(graphOf([])).nodes).toEqual([]);
  });
});

describe("a graph of 2,000 systems", () => {
  const ids = Array.from({ length: 2000 }, (_, at) => `s${at}`);
  const chain = graphOf(ids, ...ids.slice(1).map((id, at) => `${id}>${ids[at]}`));

  it("is drawn around one system", () => {
    const { nodes, edges } = cutGraph(chain, { centre: "s1000", maxNodes: 60 });
    expect(nodes).toHaveLength(60);
    expect(edges).toHaveLength(59);
    expect(nodes.map(({ id }) => id)).toContain("s1000");
    expect(nodes.map(({ id }) => id)).toContain("s990");
  });

  it("is drawn from its first system when the chosen one is gone", () => {
    const { nodes } = cutGraph(chain, { centre: "gone", maxNodes: 5 });
    expect(nodes.map(({ id }) => id)).toEqual(["s0", "s1", "s2", "s3", "s4"]);
  });

  it("can be laid out whole", () => {
    expect(layOut(chain).nodes).toHaveLength(2000);
  });
});

describe("the picture", () => {
  it("reads pages of the graph, and says how much it shows", () => {
    const page = (systemId: string, position: number) => ({
      nodes: [
        { systemId, name: "x".repeat(30), mvpCriticality: "core", status: "draft", position },
      ],
      edges: [{ sourceSystemId: "b", targetSystemId: "a", type: "enhances" }],
    });
    const graph = readGraph(page("b", 1), { ...page("a", 0), edges: [] });
    expect(graph.nodes.map(({ id }) => id)).toEqual(["a", "b"]);
    const [name, attributes, ...children] = drawPicture(graph, "b");
    expect(name).toBe("svg");
    expect(attributes["aria-label"]).toMatch(/^Dependency graph: 2 systems, 1 dependency\./);
    const text = JSON.stringify(children);
    expect(text).toContain("edge-line edge-enhances");
    expect(text).toContain("node-box node-core node-draft node-marked");
    expect(text).toContain(`${"x".repeat(19)}…`);
  });
});
