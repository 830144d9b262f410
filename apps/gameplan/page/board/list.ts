import { el } from "../../../../src/widget/dom.ts";
import { VERBS } from "../graph/picture.ts";
import type { BoardModel } from "./model.ts";

/**
 * The board in words, in an order of building: for readers who cannot see the picture, and for the
 * keyboard. A name selects its system.
 */
export function drawList(
  { systems, arrows }: BoardModel,
  {
    link,
    select,
    selected,
  }: {
    readonly link: (section: string, itemId?: string) => string;
    readonly select: (id: string) => void;
    readonly selected: string | undefined;
  },
): HTMLElement[] {
  const needed = Map.groupBy(arrows, ({ from }) => from);
  const items = [...systems.values()].map(({ id, name }) => {
    const words = (needed.get(id) ?? []).map(
      ({ to, type }) => `${VERBS[type] ?? type} ${systems.get(to)?.name ?? ""}`,
    );
    const href = link("graph", id);
    const chosen = el("a", { href, "data-key": href }, name);
    if (id === selected) chosen.setAttribute("aria-current", "true");
    chosen.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      select(id);
    });
    const text = words.length > 0 ? ` ${words.join(", ")}` : " depends on nothing";
    return el("li", {}, chosen, text);
  });
  return [
    el("h3", { id: "build-order" }, "In the order of building"),
    el("ol", { class: "build-order", "aria-labelledby": "build-order" }, ...items),
  ];
}
