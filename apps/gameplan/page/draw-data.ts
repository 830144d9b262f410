import type { JsonObject } from "../../../src/protocol/json/value.ts";
import type { CardNode } from "../../../src/widget/cards/define-tool-card.ts";
import { formatPerson, inWords, plural } from "./draw.ts";
import { cutGraph, readGraph } from "./graph/graph.ts";
import { drawPicture, VERBS } from "./graph/picture.ts";
import { listOf, numberOf, objectOf, textOf, textsOf } from "./read-json.ts";
import { formatRoute } from "./route.ts";

/** Rows of a list, and boxes of a picture, that fit into a card. */
const MAX_ROWS = 12;
const MAX_BOXES = 24;

type Draw = (data: JsonObject, link: Link) => readonly CardNode[];

/** What each kind of result looks like. The first kind whose key the data has is drawn. */
const KINDS: readonly (readonly [key: string, draw: Draw])[] = [
  ["nodes", drawGraph],
  ["impacted", drawImpact],
  ["plan", drawPlan],
  ["scope", (data) => drawScope(objectOf(data, "scope"))],
  ["system", drawSystem],
  ["brainstorm", drawBrainstorm],
  ["binItem", drawBinItem],
  ["export", drawExport],
  ["dependency", (_data, link) => [link("Open the graph", "graph")]],
  ["thread", drawThread],
  ["project", drawProject],
  ["items", drawItems],
];

/**
 * Draws the data of a result, for a card. Contract: pure; data of an unknown kind draws nothing.
 */
export function drawData(data: JsonObject, projectId = ""): readonly CardNode[] {
  const [key, draw] = KINDS.find(([name]) => Object.hasOwn(data, name)) ?? [];
  if (!key || !draw) return [];
  const own = textOf(objectOf(data, key), "projectId");
  return draw(data, linkOf(own || projectId));
}

/** Makes a link to a part of a project. */
type Link = (text: string, section: string, itemId?: string) => CardNode;

function linkOf(projectId: string): Link {
  const within = projectId === "" ? {} : { projectId };
  return (text, section, itemId) => [
    "a",
    { href: formatRoute({ ...within, section, ...(itemId && { itemId }) }) },
    text,
  ];
}

function tags(...values: readonly string[]): CardNode {
  const known = values.filter((value) => value !== "");
  return ["p", { part: "tags" }, known.map(inWords).join(" · ")];
}

function drawSystem(data: JsonObject, link: Link): readonly CardNode[] {
  const system = objectOf(data, "system");
  const purpose = textOf(system, "purpose");
  const needs = listOf(data, "dependsOn").map((other): CardNode => [
    "li",
    {},
    `${VERBS[textOf(other, "type")] ?? "needs"} ${textOf(other, "name")}`,
  ]);
  return [
    tags(textOf(system, "mvpCriticality"), textOf(system, "status"), textOf(system, "systemSlug")),
    ...(purpose === "" ? [] : [["markdown", {}, purpose] as CardNode]),
    ...(needs.length === 0 ? [] : [["ul", {}, ...needs] as CardNode]),
    ...textsOf(data, "warnings").map((text): CardNode => ["p", { part: "warning" }, text]),
    link(`Open ${textOf(system, "name")}`, "systems", textOf(system, "id")),
  ];
}

function drawGraph(data: JsonObject, link: Link): readonly CardNode[] {
  const graph = readGraph(data);
  const shown = cutGraph(graph, { centre: undefined, maxNodes: MAX_BOXES });
  const names = new Map(shown.nodes.map(({ id, name }) => [id, name]));
  const rows = shown.edges.map(({ from, to, type }): CardNode => [
    "li",
    {},
    `${names.get(from) ?? from} ${VERBS[type] ?? type} ${names.get(to) ?? to}`,
  ]);
  const count = `${plural(numberOf(data, "nodeTotal"), "system")}, `;
  return [
    ["p", {}, count + plural(numberOf(data, "edgeTotal"), "dependency", "dependencies")],
    [
      "div",
      { part: "picture", tabindex: 0, role: "group", "aria-label": "Picture" },
      drawPicture(shown),
    ],
    ["details", {}, ["summary", {}, "The same in words"], ["ul", {}, ...rows]],
    link("Open the graph", "graph"),
  ];
}

function drawImpact(data: JsonObject): readonly CardNode[] {
  const name = textOf(objectOf(data, "system"), "name");
  const rows = listOf(data, "impacted")
    .slice(0, MAX_ROWS)
    .map((system): CardNode => {
      const distance = numberOf(system, "distance");
      const how = distance === 1 ? "directly" : `through ${plural(distance - 1, "system")}`;
      return ["li", {}, `${textOf(system, "name")} (${how})`];
    });
  const total = numberOf(data, "total");
  if (total === 0) return [["p", {}, `Nothing depends on ${name}.`]];
  const plans = listOf(data, "draftPlans").map((plan) => textOf(plan, "version"));
  return [
    ["p", {}, `A change of ${name} reaches ${plural(total, "system")}:`],
    ["ul", {}, ...rows],
    ...(plans.length === 0 ? [] : [["p", {}, `Draft plans: ${plans.join(", ")}`] as CardNode]),
  ];
}

function drawPlan(data: JsonObject, link: Link): readonly CardNode[] {
  const plan = objectOf(data, "plan");
  const phases = listOf(plan, "phases").map((phase): CardNode => {
    const names = listOf(phase, "systems").map((system) => textOf(system, "name"));
    return ["li", {}, ["strong", {}, textOf(phase, "name")], `: ${names.join(", ")}`];
  });
  return [
    tags(`Version ${textOf(plan, "version")}`, textOf(plan, "status")),
    ...(phases.length === 0 ? [] : [["ol", {}, ...phases] as CardNode]),
    ...drawScope(objectOf(data, "scope")),
    link("Open the plan", "plans", textOf(plan, "id")),
  ];
}

function drawScope(scope: JsonObject): readonly CardNode[] {
  if (scope["valid"] === true) return [["p", { part: "good" }, "Everything required is in it."]];
  const missing = listOf(scope, "missing").map((system): CardNode => [
    "li",
    {},
    `${textOf(system, "name")}, required by ${textsOf(system, "requiredBy").join(", ")}`,
  ]);
  return missing.length === 0
    ? []
    : [
        ["p", { part: "warning" }, "Missing:"],
        ["ul", {}, ...missing],
      ];
}

function drawBrainstorm(data: JsonObject, link: Link): readonly CardNode[] {
  const session = objectOf(data, "brainstorm");
  const outputs = listOf(session, "outputs")
    .slice(0, MAX_ROWS)
    .map((output): CardNode => [
      "li",
      {},
      ["strong", {}, inWords(textOf(output, "kind"))],
      ["markdown", {}, textOf(output, "text")],
    ]);
  const id = `brainstorm:${textOf(session, "id")}`;
  return [
    ...(outputs.length === 0 ? [] : [["ul", {}, ...outputs] as CardNode]),
    link(`Open ${textOf(session, "title")}`, "ideas", id),
  ];
}

function drawBinItem(data: JsonObject, link: Link): readonly CardNode[] {
  const item = objectOf(data, "binItem");
  if (data["restored"] === true) return [["p", {}, `${textOf(item, "name")} is back.`]];
  return [["p", {}, `${textOf(item, "name")} is in the bin.`], link("Open the bin", "bin")];
}

function drawExport(data: JsonObject, link: Link): readonly CardNode[] {
  const made = objectOf(data, "export");
  const excerpt = textOf(data, "excerpt") || textOf(data, "text");
  return [
    tags(textOf(made, "kind"), plural(numberOf(made, "characters"), "character")),
    ["pre", { tabindex: 0 }, excerpt],
    link("Open it", "exports", textOf(made, "id")),
  ];
}

function drawThread(data: JsonObject, link: Link): readonly CardNode[] {
  const thread = objectOf(data, "thread");
  const messages = listOf(data, "items").slice(-MAX_ROWS);
  const rows = messages.map((message): CardNode => [
    "li",
    {},
    ["strong", {}, formatPerson(textOf(message, "author"))],
    ["markdown", {}, textOf(message, "text")],
  ]);
  return [
    ...(rows.length === 0 ? [] : [["ul", {}, ...rows] as CardNode]),
    link(`Open ${textOf(thread, "title")}`, "ideas", `thread:${textOf(thread, "id")}`),
  ];
}

function drawProject(data: JsonObject): readonly CardNode[] {
  const project = objectOf(data, "project");
  const facts = ["genre", "platform", "status"].map((key) => textOf(project, key));
  const counts = objectOf(data, "counts");
  const systems = Object.hasOwn(counts, "systems")
    ? [["p", {}, plural(numberOf(counts, "systems"), "system")] as CardNode]
    : [];
  const projectId = textOf(project, "id");
  const href = formatRoute({ section: "systems", ...(projectId && { projectId }) });
  return [tags(...facts), ...systems, ["a", { href }, `Open ${textOf(project, "name")}`]];
}

function drawItems(data: JsonObject): readonly CardNode[] {
  const items = listOf(data, "items");
  const total = Math.max(numberOf(data, "total"), items.length);
  const rows = items
    .slice(0, MAX_ROWS)
    .map((item): CardNode => ["li", {}, nameOf(item), drawUnread(item)]);
  const rest = total - rows.length;
  if (total === 0) return [["p", {}, "Nothing was found."]];
  return [
    ["ul", {}, ...rows],
    ...(rest > 0 ? [["p", { part: "tags" }, `and ${rest.toLocaleString()} more`] as CardNode] : []),
  ];
}

function nameOf(item: JsonObject): string {
  const keys = ["summary", "name", "title", "version", "text"];
  return keys.map((key) => textOf(item, key)).find((text) => text !== "") ?? "";
}

function drawUnread(item: JsonObject): string {
  const unread = numberOf(item, "unreadCount");
  return unread > 0 ? ` (${unread} unread)` : "";
}
