import { type Area, areaOf, overlaps } from "./geometry.ts";
import { NODE } from "../graph/layout.ts";
import { type BoardArrow, type BoardModel, keyOf } from "./model.ts";
import {
  drawArrow,
  drawBox,
  drawJoinedArrows,
  drawPlainBox,
  moveTo,
  placeArrow,
  svg,
} from "./paint.ts";

/** A curve leaves the area of its ends by less. */
const BULGE = NODE.width;
/** Of more boxes, those whose names are too small to read are drawn without names. */
const MOST_NAMED = 60;
/**
 * More arrows are drawn together, as one line of each kind. Those of the selected system stay
 * apart, so that a pointer hits them.
 */
const MOST_SINGLE = 200;

/** What is drawn of a board. */
interface Shown {
  readonly model: BoardModel;
  readonly area: Area;
  readonly selected: string | undefined;
  /** Names are too small to read. */
  readonly isSmall: boolean;
}

/**
 * The boxes and arrows of a part of a board. Many of them have a simpler form, so that a large
 * board has few elements. The selected system and those that it is linked with keep their names.
 */
export class Drawing {
  readonly arrows = svg("g", {});
  readonly boxes = svg("g", {});
  readonly #joined = svg("g", {});
  readonly #single = svg("g", {});
  #joinedKeys: ReadonlySet<string> = new Set();
  #selected: string | undefined;

  constructor() {
    this.arrows.append(this.#joined, this.#single);
  }

  clear(): void {
    for (const group of [this.boxes, this.#joined, this.#single]) group.replaceChildren();
    this.#joinedKeys = new Set();
  }

  draw(shown: Shown): void {
    const { model, area, selected } = shown;
    const { systems } = model;
    this.#selected = selected;
    const arrows = model.arrows.filter(({ from, to, lanes = [] }) => {
      const ends = [from, to].flatMap((id) => systems.get(id)?.at ?? []);
      return overlaps(areaOf([...ends, ...lanes], BULGE), area);
    });
    const near = arrows.filter((arrow) => this.#isNear(arrow));
    this.#drawBoxes(shown, new Set(near.flatMap(({ from, to }) => [from, to])));
    const single = [arrows, near].find((some) => some.length <= MOST_SINGLE) ?? [];
    this.#single.replaceChildren(
      ...single.map((arrow) => {
        const drawn = drawArrow(model, arrow);
        drawn.toggleAttribute("data-near", this.#isNear(arrow));
        return drawn;
      }),
    );
    const alone = new Set(single);
    const joined = arrows.filter((arrow) => !alone.has(arrow));
    this.#joinedKeys = new Set(joined.map(keyOf));
    this.#join(model, joined);
  }

  #drawBoxes({ model, area, selected, isSmall }: Shown, linked: ReadonlySet<string>): void {
    const boxes = [...model.systems.values()].filter(({ at }) => overlaps(areaOf([at]), area));
    const isPlain = isSmall && boxes.length > MOST_NAMED;
    this.boxes.replaceChildren(
      ...boxes.map((system) => {
        const isChosen = system.id === selected;
        const isNear = isChosen || linked.has(system.id);
        const box = isPlain && !isNear ? drawPlainBox(system) : drawBox(system);
        box.toggleAttribute("data-near", isNear);
        box.toggleAttribute("data-chosen", isChosen);
        return box;
      }),
    );
  }

  /** Draws a box where it is now, and its arrows. */
  move(model: BoardModel, id: string): void {
    const at = model.systems.get(id)?.at;
    if (at) find(this.boxes, "node", id)?.setAttribute("transform", moveTo(at));
    const moved = model.arrows.filter((arrow) => touches(arrow, id));
    for (const arrow of moved) {
      const group = find(this.#single, "arrow", keyOf(arrow));
      if (group) placeArrow(model, arrow, group);
    }
    if (!moved.some((arrow) => this.#joinedKeys.has(keyOf(arrow)))) return;
    this.#join(
      model,
      model.arrows.filter((arrow) => this.#joinedKeys.has(keyOf(arrow))),
    );
  }

  /** Marks the box at which a new arrow would end. */
  aim(to: string | undefined, isRefused: boolean): void {
    for (const box of this.boxes.children) {
      const isAim = to !== undefined && box.getAttribute("data-node") === to;
      box.toggleAttribute("data-aim", isAim);
      box.toggleAttribute("data-refused", isAim && isRefused);
    }
  }

  #join(model: BoardModel, arrows: readonly BoardArrow[]): void {
    const groups = Map.groupBy(arrows, (arrow) => `${arrow.type} ${this.#isNear(arrow)}`);
    this.#joined.replaceChildren(
      ...[...groups.values()].map((some) => {
        const drawn = drawJoinedArrows(model, some);
        drawn.toggleAttribute(
          "data-near",
          some.some((arrow) => this.#isNear(arrow)),
        );
        return drawn;
      }),
    );
  }

  #isNear(arrow: BoardArrow): boolean {
    return touches(arrow, this.#selected);
  }
}

function touches({ from, to }: BoardArrow, id: string | undefined): boolean {
  return from === id || to === id;
}

function find(parent: Element, kind: "node" | "arrow", id: string): Element | undefined {
  return [...parent.children].find((one) => one.getAttribute(`data-${kind}`) === id);
}
