import { el } from "../../../../src/widget/dom.ts";
import { drawButton, drawTag, inWords } from "../draw.ts";
import type { GraphEdge } from "../graph/graph.ts";
import { VERBS } from "../graph/picture.ts";
import { type BoardArrow, type BoardModel, type BoardSystem, keyOf } from "./model.ts";

export interface PanelPorts {
  readonly link: (section: string, itemId?: string) => string;
  readonly select: (id: string | undefined) => void;
  readonly connect: (edge: GraphEdge) => Promise<unknown>;
  readonly remove: (edge: GraphEdge) => Promise<unknown>;
  readonly changeKind: (edge: GraphEdge, type: string) => Promise<unknown>;
  readonly release: (id: string) => Promise<unknown>;
}

/** Draws what is known of the selected system, and what can be done with it. */
export function drawPanel(model: BoardModel, id: string, ports: PanelPorts): Node[] {
  const system = model.systems.get(id);
  if (!system) return [];
  const needs = model.arrows.filter(({ from }) => from === id);
  const needed = model.arrows.filter(({ to }) => to === id);
  const close = drawButton("Close", async () => ports.select(undefined), { class: "small" });
  const open = el("a", { href: ports.link("systems", id), "data-key": "open-system" }, "Open");
  return [
    el("h3", { tabindex: "-1", "data-key": "selected-name" }, system.name),
    el("p", { class: "facts" }, drawTag(system.criticality), drawTag(system.status), open, close),
    drawArrows(model, { title: "Depends on", arrows: needs }, ports),
    ...(needed.length > 0
      ? [drawArrows(model, { title: "Needed by", arrows: needed }, ports)]
      : []),
    drawConnect(model, system, ports),
    ...(system.isPlaced
      ? [drawButton("Move to its free place", () => ports.release(id), { class: "small" })]
      : []),
  ];
}

function drawArrows(
  model: BoardModel,
  { title, arrows }: { readonly title: string; readonly arrows: readonly BoardArrow[] },
  { select, remove, changeKind }: PanelPorts,
): HTMLElement {
  const items = arrows.map((arrow) => {
    const isNeed = title === "Depends on";
    const other = model.systems.get(isNeed ? arrow.to : arrow.from);
    const name = other?.name ?? "";
    const verb = VERBS[arrow.type] ?? arrow.type;
    const go = drawButton(name, async () => select(other?.id), {
      class: "plain",
      "data-key": `${title}:${keyOf(arrow)}`,
    });
    const cut = drawButton("Remove", () => remove(arrow), {
      class: "small",
      "data-key": `remove:${keyOf(arrow)}`,
    });
    const source = model.systems.get(arrow.from)?.name ?? "";
    const target = model.systems.get(arrow.to)?.name ?? "";
    cut.setAttribute("aria-label", `Remove: ${source} ${verb} ${target}`);
    const kind = drawKind(arrow, `${source} and ${target}`, changeKind);
    const words = isNeed ? [kind, " ", go] : [go, " ", kind, " it"];
    return el("li", {}, el("span", {}, ...words), cut);
  });
  const list =
    items.length > 0 ? el("ul", {}, ...items) : el("p", { class: "note" }, "Nothing yet.");
  return el("section", {}, el("h4", {}, title), list);
}

/** The kind of a dependency, to change in place. One that is not stored yet cannot change. */
function drawKind(arrow: BoardArrow, ends: string, change: PanelPorts["changeKind"]): HTMLElement {
  const { row, type } = arrow;
  if (!row) return el("span", {}, VERBS[type] ?? type);
  const select = el(
    "select",
    { "aria-label": `Kind: ${ends}`, "data-key": `kind-of:${keyOf(arrow)}` },
    ...Object.entries(VERBS).map(([value, words]) => el("option", { value }, words)),
  );
  select.value = type;
  select.addEventListener("change", () => void change(arrow, select.value));
  return select;
}

/** A form that adds a dependency, for the keyboard and for systems that lie far apart. */
function drawConnect(
  { systems, arrows }: BoardModel,
  { id, name }: BoardSystem,
  { connect }: PanelPorts,
): HTMLElement {
  const known = new Set(arrows.filter(({ from }) => from === id).map(({ to }) => to));
  const options = [...systems.values()]
    .filter((other) => other.id !== id && !known.has(other.id))
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map((other) => el("option", { value: other.id }, other.name));
  const type = el(
    "select",
    { "aria-label": "Kind of dependency", "data-key": `kind:${id}` },
    ...Object.entries(VERBS).map(([value, words]) => el("option", { value }, inWords(words))),
  );
  const target = el(
    "select",
    { "aria-label": `What ${name} depends on`, "data-key": `target:${id}` },
    el("option", { value: "" }, "Choose a system…"),
    ...options,
  );
  const add = el("button", { "data-key": `connect:${id}` }, "Add");
  const form = el("form", { class: "connect", "aria-label": "Add a dependency" });
  form.append(type, target, add);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (target.value === "") return target.focus();
    void connect({ from: id, to: target.value, type: type.value });
  });
  return form;
}
