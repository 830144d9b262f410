import { el } from "../../../../src/widget/dom.ts";
import { NODE } from "../graph/layout.ts";
import { describePicture } from "../graph/picture.ts";
import { Drawing } from "./drawing.ts";
import {
  type Area,
  centreOn,
  fitTo,
  isInSight,
  isWithin,
  panBy,
  type Point,
  seenArea,
  type Size,
  toBoard,
  type View,
  widthOf,
  zoomAt,
} from "./geometry.ts";
import { followPointers, type Hit } from "./follow-pointers.ts";
import type { BoardModel } from "./model.ts";
import { svg } from "./paint.ts";

export interface SurfacePorts {
  readonly onSelect: (id: string | undefined) => void;
  readonly onMoved: (id: string, to: Point) => void;
  /** The reader draws an arrow over a box. Answers why it cannot end there; undefined: it can. */
  readonly onAim: (from: string, to: string) => string | undefined;
  readonly onDrawn: (from: string, to: string) => void;
  readonly onArrow: (key: string) => void;
  /** The scale changed. */
  readonly onView: (view: View) => void;
}

/** Below this scale names are too small to read, so only those of the chosen systems are shown. */
const MIN_READABLE = 0.45;
/** A large board begins at this scale, not whole. */
const FIRST_SCALE = 0.6;
/** What is drawn around the window on each side, in sizes of the window: most moves draw none. */
const AROUND = 0.5;
/** After a reader zoomed in, less is drawn, from this many widths of the window on. */
const MOST_AROUND = 4;

/** The picture of the board: boxes and arrows that the reader moves, zooms and draws. */
export class Surface {
  readonly root: HTMLElement;
  readonly #svg = svg("svg", { part: "graph", role: "img" });
  readonly #world = svg("g", {});
  readonly #drawing = new Drawing();
  readonly #line = svg("path", { class: "new-arrow" });
  readonly #ports: SurfacePorts;
  #model: BoardModel = { systems: new Map(), arrows: [] };
  #selected: string | undefined;
  #view: View | undefined;
  /** The part of the board that is drawn, and in which form. */
  #drawn: { readonly area: Area; readonly isSmall: boolean } | undefined;
  /** The box that the reader moves. */
  #held: { readonly id: string; readonly at: Point } | undefined;

  constructor(ports: SurfacePorts) {
    this.#ports = ports;
    this.#world.append(this.#drawing.arrows, this.#drawing.boxes, this.#line);
    this.#svg.append(this.#world);
    this.root = el("div", { class: "surface", tabindex: "0", "data-key": "board" });
    this.root.append(this.#svg);
    followPointers(this.#svg, {
      hit: (target) => this.#hit(target),
      pan: (by) => this.#show(panBy(this.view, by)),
      zoom: (factor, at) => this.#show(zoomAt(this.view, factor, at)),
      select: (hit) => this.#select(hit),
      dragBox: (id, by) => this.#dragBox(id, by),
      dropBox: (id) => this.#dropBox(id),
      dragArrow: (from, at, over) => this.#dragArrow(from, at, over),
      dropArrow: (from, over) => this.#dropArrow(from, over),
    });
    new ResizeObserver(() => this.#settle()).observe(this.root);
  }

  get view(): View {
    return this.#view ?? { x: 0, y: 0, scale: 1 };
  }

  /** Draws what the board shows now. What the reader drags stays in hand. */
  paint(shown: BoardModel, selected: string | undefined): void {
    const model = this.#held ? withMoved(shown, this.#held) : shown;
    this.#model = model;
    this.#selected = selected;
    const graph = { nodes: [...model.systems.values()], edges: model.arrows };
    this.#svg.setAttribute("aria-label", describePicture(graph));
    this.#svg.toggleAttribute("data-selected", selected !== undefined);
    this.#drawn = undefined;
    // A window without a size shows nothing; it is drawn once it has one.
    this.#drawing.clear();
    this.#settle();
  }

  /** Draws the boxes and arrows in the window and around it, where others are drawn now. */
  #draw(view: View): void {
    const seen = seenArea(view, this.#size, 0);
    const isSmall = view.scale < MIN_READABLE;
    const drawn = this.#drawn?.isSmall === isSmall ? this.#drawn.area : undefined;
    const isNarrow = drawn && widthOf(drawn) <= MOST_AROUND * widthOf(seen);
    if (isNarrow && isWithin(seen, drawn)) return;
    const area = seenArea(view, this.#size, AROUND);
    this.#drawn = { area, isSmall };
    this.#drawing.draw({ model: this.#model, area, selected: this.#selected, isSmall });
  }

  /** What the reader held has a place now. */
  release(): void {
    this.#held = undefined;
  }

  zoom(factor: number): void {
    const { width, height } = this.#size;
    this.#show(zoomAt(this.view, factor, { x: width / 2, y: height / 2 }));
  }

  pan(by: Point): void {
    this.#show(panBy(this.view, by));
  }

  fit(): void {
    this.#show(
      fitTo(
        [...this.#model.systems.values()].map(({ at }) => at),
        this.#size,
      ),
    );
  }

  /** Brings a system into the middle, unless it is in sight. */
  reveal(id: string): void {
    const system = this.#model.systems.get(id);
    // Before the first picture there is no size; then the first view shows the system.
    if (!system || this.#size.width === 0 || isInSight(this.view, system.at, this.#size)) return;
    const scale = Math.max(this.view.scale, FIRST_SCALE);
    this.#show(centreOn({ ...this.view, scale }, system.at, this.#size));
  }

  get #size(): Size {
    return { width: this.root.clientWidth, height: this.root.clientHeight };
  }

  /** Chooses the first view, once the size is known. */
  #settle(): void {
    if (this.#size.width === 0 || this.#model.systems.size === 0) return;
    if (this.#view) return this.#show(this.#view);
    this.fit();
    if (this.view.scale >= MIN_READABLE) return;
    const first = this.#model.systems.get(this.#selected ?? "");
    const [begin] = this.#model.systems.values();
    const system = first ?? begin;
    if (!system) return;
    const view = centreOn({ ...this.view, scale: FIRST_SCALE }, system.at, this.#size);
    // A board is read from its left edge.
    this.#show(first ? view : { ...view, x: system.at.x - NODE.width / 4 });
  }

  #show(view: View): void {
    this.#view = view;
    const { x, y, scale } = view;
    this.#world.setAttribute("transform", `scale(${scale}) translate(${-x} ${-y})`);
    this.#svg.toggleAttribute("data-small", scale < MIN_READABLE);
    this.#draw(view);
    this.#ports.onView(view);
  }

  #hit(target: EventTarget | null): Hit {
    const element = target instanceof Element ? target : undefined;
    const nameOf = (key: string): string | undefined =>
      element?.closest(`[data-${key}]`)?.getAttribute(`data-${key}`) ?? undefined;
    const [knob, box, arrow] = [nameOf("knob"), nameOf("node"), nameOf("arrow")];
    if (knob !== undefined) return { kind: "knob", id: knob };
    if (box !== undefined) return { kind: "box", id: box };
    return arrow === undefined ? { kind: "room" } : { kind: "arrow", key: arrow };
  }

  #select(hit: Hit): void {
    if (hit.kind === "arrow") this.#ports.onArrow(hit.key);
    else this.#ports.onSelect(hit.kind === "room" ? undefined : hit.id);
  }

  #dragBox(id: string, by: Point): void {
    const system = this.#model.systems.get(id);
    if (!system) return;
    const { scale } = this.view;
    this.hold(id, { x: system.at.x + by.x / scale, y: system.at.y + by.y / scale });
  }

  /** Shows a box at a place that is not decided yet. */
  hold(id: string, at: Point): void {
    this.#held = { id, at };
    this.#model = withMoved(this.#model, this.#held);
    this.#drawing.move(this.#model, id);
  }

  #dropBox(id: string): void {
    const at = this.#model.systems.get(id)?.at;
    if (at) this.#ports.onMoved(id, { x: Math.round(at.x), y: Math.round(at.y) });
  }

  #dragArrow(from: string, at: Point, over: Hit): void {
    const source = this.#model.systems.get(from);
    if (!source) return;
    const end = toBoard(this.view, at);
    const start = { x: source.at.x, y: source.at.y + 20 };
    this.#line.setAttribute("d", `M${start.x} ${start.y}L${end.x} ${end.y}`);
    const to = boxOf(over) === from ? undefined : boxOf(over);
    const isRefused = to !== undefined && this.#ports.onAim(from, to) !== undefined;
    this.#drawing.aim(to, isRefused);
    this.#line.toggleAttribute("data-refused", isRefused);
  }

  #dropArrow(from: string, over: Hit | undefined): void {
    this.#line.removeAttribute("d");
    this.#drawing.aim(undefined, false);
    const to = over && boxOf(over);
    if (to !== undefined && to !== from) this.#ports.onDrawn(from, to);
  }
}

function boxOf(hit: Hit): string | undefined {
  return hit.kind === "box" || hit.kind === "knob" ? hit.id : undefined;
}

/** The lines of a box that moves lead straight to it. */
function withMoved(model: BoardModel, { id, at }: { readonly id: string; readonly at: Point }) {
  const system = model.systems.get(id);
  if (!system) return model;
  return {
    systems: new Map(model.systems).set(id, { ...system, at }),
    arrows: model.arrows.map((arrow) => {
      if (arrow.from !== id && arrow.to !== id) return arrow;
      const { lanes: _, ...straight } = arrow;
      return straight;
    }),
  };
}
