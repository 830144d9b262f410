import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { el, setText } from "../../../../src/widget/dom.ts";
import { drawButton, drawHeading, plural } from "../draw.ts";
import type { GraphEdge } from "../graph/graph.ts";
import { replaceKeeping } from "../keep-state.ts";
import { listOf, textOf } from "../read-json.ts";
import type { Route } from "../route.ts";
import type { SectionContext } from "../section.ts";
import boardCss from "./board.css";
import { toSheet } from "../../../../src/widget/style-sheets.ts";
import { createZoom, drawBar } from "./bar.ts";
import { createKindChanges } from "./change-kind.ts";
import type { Point } from "./geometry.ts";
import { followKeys } from "./follow-keys.ts";
import { drawList } from "./list.ts";
import { type BoardData, type BoardModel, keyOf, makeModel, refuseArrow } from "./model.ts";
import { drawLegend } from "./paint.ts";
import { drawPanel } from "./panel.ts";
import { PendingChanges } from "./pending-changes.ts";
import { Surface } from "./surface.ts";

const sheet = toSheet(boardCss);

/** The dependency graph of a project, to arrange and to draw in. It stays while it is shown. */
export class Board {
  readonly root: HTMLElement;
  readonly #pending = new PendingChanges();
  /** What succeeded, and no read has shown yet. */
  readonly #ends: (() => void)[] = [];
  readonly #kinds = createKindChanges();
  readonly #surface: Surface;
  readonly #heading = el("div", {});
  readonly #bar = el("div", {});
  readonly #says = el("p", { class: "board-says", role: "status" });
  readonly #panel = el("aside", { class: "panel", "aria-label": "Selected system", hidden: "" });
  readonly #list = el("div", { class: "board-list" });
  #context: SectionContext;
  #data: BoardData;
  #plans: readonly JsonObject[];
  #selected: string | undefined;

  constructor(shown: {
    readonly context: SectionContext;
    readonly data: BoardData;
    readonly plans: readonly JsonObject[];
  }) {
    this.#context = shown.context;
    this.#data = shown.data;
    this.#plans = shown.plans;
    const zoom = createZoom({
      zoom: (factor) => this.#surface.zoom(factor),
      fit: () => this.#surface.fit(),
    });
    this.#surface = new Surface({
      onSelect: (id) => this.#select(id),
      onMoved: (id, to) => void this.#move([id], to),
      onAim: (from, to) => this.#aim(from, to),
      onDrawn: (from, to) => void this.#connect({ from, to, type: "requires" }),
      onArrow: (key) => this.#selectArrow(key),
      onView: zoom.show,
    });
    followKeys(this.#surface, {
      selected: () => this.#model.systems.get(this.#selected ?? ""),
      select: (id) => this.#select(id),
      move: (id, to) => void this.#move([id], to),
    });
    const room = el("div", { class: "board-room" }, this.#surface.root, zoom.root, this.#panel);
    const parts = [this.#heading, this.#bar, room, this.#says, drawLegend(), this.#list];
    this.root = el("div", { class: "board" }, ...parts);
    this.update(shown.context, shown.data);
  }

  /** Shows what the server knows now, and the system that the address names. */
  update(context: SectionContext, data: BoardData): void {
    const { itemId } = context.route;
    const isNew = itemId !== this.#selected;
    context.addSheet(sheet);
    this.#context = context;
    this.#data = data;
    this.#selected = itemId;
    this.#endPending();
    this.#kinds.forget();
    this.#draw();
    if (isNew && itemId !== undefined) this.#surface.reveal(itemId);
  }

  get #model(): BoardModel {
    return makeModel(this.#data, this.#pending.now);
  }

  #draw(): void {
    const model = this.#model;
    const { link, route } = this.#context;
    const selected = this.#selected;
    const tidy = drawButton("Tidy up", () => this.#tidy(), { class: "small" });
    const isArranged = [...model.systems.values()].some(({ isPlaced }) => isPlaced);
    const count = el("span", { class: "note" }, this.#count());
    replaceKeeping(this.#heading, [
      drawHeading("Dependency graph", count, ...(isArranged ? [tidy] : [])),
    ]);
    const bar = drawBar(
      model,
      { route, plans: this.#plans },
      {
        find: (words) => this.#find(words),
        filter: (name, value) => this.#go({ ...route.query, [name]: value }),
      },
    );
    replaceKeeping(this.#bar, [bar]);
    this.#surface.paint(model, selected);
    const select = (id: string | undefined): void => this.#select(id);
    const panel =
      selected === undefined
        ? []
        : drawPanel(model, selected, {
            link,
            select,
            connect: (edge) => this.#connect(edge),
            remove: (edge) => this.#remove(edge),
            changeKind: (edge, type) => this.#changeKind(edge, type),
            release: (id) => this.#move([id], undefined),
          });
    this.#panel.hidden = panel.length === 0;
    replaceKeeping(this.#panel, panel);
    replaceKeeping(
      this.#list,
      drawList(model, { link, select: (id) => this.#selectInList(id), selected }),
    );
  }

  #count(): string {
    const { nodes, nodeTotal, edgeTotal } = this.#data;
    const links = plural(edgeTotal, "dependency", "dependencies");
    if (nodes.length >= nodeTotal) return `${plural(nodeTotal, "system")}, ${links}`;
    const shown = `${nodes.length.toLocaleString()} of ${plural(nodeTotal, "system")}`;
    return `${shown}, nearest to the selected one`;
  }

  #select(id: string | undefined): void {
    this.#selected = id;
    this.#say("");
    const { route, showAddress } = this.#context;
    const { section, query } = route;
    showAddress({ section, ...(id !== undefined && { itemId: id }), ...(query && { query }) });
    this.#draw();
    if (id !== undefined) this.#surface.reveal(id);
  }

  /** The focus goes to what can be done with the system, and the picture comes into sight. */
  #selectInList(id: string): void {
    this.#select(id);
    this.#panel.querySelector("h3")?.focus();
  }

  /** Selects the system that an arrow begins at, with the focus on the arrow. */
  #selectArrow(key: string): void {
    const arrow = this.#model.arrows.find((one) => keyOf(one) === key);
    if (!arrow) return;
    this.#select(arrow.from);
    this.#panel.querySelector<HTMLElement>(`[data-key="remove:${key}"]`)?.focus();
  }

  /** Shows the board with other filters, or around another system. */
  #go(query: Route["query"], itemId = this.#selected): void {
    const to = { section: "graph", ...(itemId !== undefined && { itemId }) };
    this.#context.go({ ...to, ...(query && { query }) }, { isSilent: true });
  }

  async #find(words: string): Promise<void> {
    const { api, projectId, route } = this.#context;
    const wanted = words.toLowerCase();
    const systems = [...this.#model.systems.values()];
    const found =
      systems.find(({ name }) => name.toLowerCase() === wanted) ??
      systems.find(({ name }) => name.toLowerCase().includes(wanted));
    if (found) return this.#select(found.id);
    // A large project has systems that the board does not show.
    const args = { projectId, search: words.slice(0, 80), limit: 1 };
    const read = await api.read("list_game_systems", args);
    const [system] = read.ok ? listOf(read.value, "items") : [];
    if (system) this.#go({ ...route.query, layer: "", plan: "" }, textOf(system, "id"));
    else this.#say(`No system matches "${words}".`);
  }

  /** Undefined: the page chooses the place again. */
  async #move(ids: readonly string[], to: Point | undefined): Promise<void> {
    const { act, projectId } = this.#context;
    const places = ids.map((systemId) => ({ systemId, place: to ? { ...to } : null }));
    const end = this.#pending.move(ids, to);
    this.#surface.release();
    this.#draw();
    const done = await act("arrange_systems", { projectId, places });
    if (!done) this.#say("The board was not changed. The system is back where it was.");
    this.#finish(end, done);
  }

  /** What succeeded is shown until the board is read again. What was refused ends at once. */
  #finish(end: () => void, done: JsonObject | undefined): void {
    this.#ends.push(end);
    if (done) return;
    this.#endPending();
    this.#draw();
  }

  #endPending(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  async #tidy(): Promise<void> {
    const placed = [...this.#model.systems.values()].filter(({ isPlaced }) => isPlaced);
    await this.#move(
      placed.map(({ id }) => id),
      undefined,
    );
    this.#surface.fit();
  }

  #aim(from: string, to: string): string | undefined {
    const why = refuseArrow(this.#model, from, to);
    this.#say(why ?? "");
    return why;
  }

  async #connect(edge: GraphEdge): Promise<void> {
    const { from, to, type } = edge;
    if (this.#aim(from, to) !== undefined) return;
    const end = this.#pending.add(edge);
    this.#select(from);
    const args = { sourceSystemId: from, targetSystemId: to, type };
    this.#finish(end, await this.#context.act("add_dependency", args));
  }

  async #remove(edge: GraphEdge): Promise<void> {
    const { from, to } = edge;
    const end = this.#pending.remove(edge);
    this.#draw();
    const args = { sourceSystemId: from, targetSystemId: to };
    this.#finish(end, await this.#context.act("remove_dependency", args));
  }

  async #changeKind(edge: GraphEdge, type: string): Promise<void> {
    const end = this.#pending.changeKind(edge, type);
    this.#draw();
    this.#finish(end, await this.#kinds.change(edge, type, this.#context.act));
  }

  #say(text: string): void {
    setText(this.#says, text);
  }
}
