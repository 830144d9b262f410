import type { JsonObject } from "../../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../../protocol/outcome/result.ts";
import { drawNodes } from "../../cards/draw-nodes.ts";
import { el } from "../../dom.ts";
import type { CallFailure } from "../api.ts";
import { drawEmpty, drawHeading, plural } from "../draw.ts";
import { cutGraph, type Graph, readGraph } from "../graph/graph.ts";
import { layOut } from "../graph/layout.ts";
import { drawPicture, VERBS } from "../graph/picture.ts";
import { numberOf } from "../read-json.ts";
import type { Section, SectionContext } from "../section.ts";

/** A picture with more systems is not readable, so a larger graph is drawn around one system. */
const MAX_DRAWN = 60;
/** Pages of 200 systems that are read. */
const MAX_PAGES = 10;

export const graphSection: Section = {
  name: "graph",
  title: "Graph",
  entities: ["system", "dependency"],
  async show(context) {
    const read = await readAll(context);
    if (!read.ok) return fail(read.failure);
    const graph = read.value;
    const count = plural(graph.nodes.length, "system");
    const heading = drawHeading("Dependency graph", el("span", { class: "note" }, count));
    if (graph.nodes.length === 0) {
      const hint = 'Say in the chat: "Add a Crafting and a Weather system."';
      return ok([heading, drawEmpty("There is nothing to draw yet.", hint)]);
    }
    const centre = context.route.itemId;
    const shown = cutGraph(graph, { centre, maxNodes: MAX_DRAWN });
    const choice = graph.nodes.length > MAX_DRAWN ? [drawChoice(context, graph, shown)] : [];
    return ok([
      heading,
      ...choice,
      drawScroller(context, shown),
      drawLegend(),
      ...drawList(context, shown),
    ]);
  },
};

async function readAll({ api, projectId }: SectionContext): Promise<Result<Graph, CallFailure>> {
  const pages: JsonObject[] = [];
  let offset = 0;
  while (pages.length < MAX_PAGES) {
    const page = await api.read("get_dependency_graph", { projectId, offset, limit: 200 });
    if (!page.ok) return page;
    pages.push(page.value);
    offset = numberOf(page.value, "nextOffset");
    if (offset === 0) break;
  }
  return ok(readGraph(...pages));
}

/** Chooses the system around which a large graph is drawn. */
function drawChoice({ route, go }: SectionContext, graph: Graph, shown: Graph): HTMLElement {
  const select = el("select", { id: "graph-centre", "data-key": "graph-centre" });
  for (const { id, name } of graph.nodes) {
    const option = el("option", { value: id }, name);
    option.selected = id === (route.itemId ?? shown.nodes[0]?.id);
    select.append(option);
  }
  select.addEventListener("change", () => go({ section: "graph", itemId: select.value }));
  const text = `The picture shows the ${shown.nodes.length} systems nearest to`;
  return el("p", { class: "choice" }, el("label", { for: "graph-centre" }, text), select);
}

function drawScroller({ route, go }: SectionContext, shown: Graph): HTMLElement {
  const label = { role: "group", "aria-label": "Picture of the dependency graph" };
  const scroller = el("div", { class: "picture", tabindex: "0", "data-key": "picture", ...label });
  scroller.append(...drawNodes([drawPicture(shown, route.itemId)]));
  const boxes = scroller.querySelectorAll("[part~=node]");
  layOut(shown).nodes.forEach(({ id }, at) =>
    boxes[at]?.addEventListener("click", () => go({ section: "systems", itemId: id })),
  );
  return scroller;
}

function drawLegend(): HTMLElement {
  const kinds = [
    ["requires", "requires"],
    ["enhances", "enhances"],
    ["optional", "can use"],
  ] as const;
  const items = kinds.map(([type, words]) => {
    const line = el("span", { class: "sample", "data-type": type, "aria-hidden": "true" });
    return el("li", {}, line, words);
  });
  const lead = el("span", { class: "note" }, "An arrow leads to what a system needs:");
  return el("div", { class: "legend" }, lead, el("ul", {}, ...items));
}

/** The same in words: for readers who cannot see the picture, and for the keyboard. */
function drawList({ link }: SectionContext, { nodes, edges }: Graph): HTMLElement[] {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const needed = Map.groupBy(edges, ({ from }) => from);
  const items = nodes.map(({ id, name }) => {
    const words = (needed.get(id) ?? []).map(
      ({ to, type }) => `${VERBS[type] ?? type} ${names.get(to) ?? to}`,
    );
    const href = link("systems", id);
    const text = words.length > 0 ? ` ${words.join(", ")}` : " depends on nothing";
    return el("li", {}, el("a", { href, "data-key": href }, name), text);
  });
  return [
    el("h3", { id: "build-order" }, "In the order of building"),
    el("ol", { class: "build-order", "aria-labelledby": "build-order" }, ...items),
  ];
}
