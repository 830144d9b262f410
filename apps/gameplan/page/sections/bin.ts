import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawButton, drawEmpty, drawHeading, formatPerson, formatTime, inWords } from "../draw.ts";
import { drawMore, pagesIn, readPages } from "../pages.ts";
import { numberOf, textOf } from "../read-json.ts";
import type { SectionContext, ShowSection } from "../section.ts";

export const showBin: ShowSection = async (context) => {
  // Without a project: a deleted project is in the bin, too.
  const read = await readPages(context.api, { tool: "list_bin", args: {} }, pagesIn(context.route));
  if (!read.ok) return read;
  const { items } = read.value;
  const heading = drawHeading("Bin");
  if (items.length === 0) {
    const hint = "What you delete stays here for 30 days.";
    return ok([heading, drawEmpty("The bin is empty.", hint)]);
  }
  const empty = drawButton("Empty the bin", () => context.act("empty_bin", {}));
  return ok([
    heading,
    el(
      "ul",
      { class: "items", "aria-label": "Bin" },
      ...items.map((item) => drawItem(context, item)),
    ),
    ...drawMore(context, read.value),
    el("div", { class: "actions" }, empty),
  ]);
};

function drawItem({ act }: SectionContext, item: JsonObject): HTMLElement {
  const [entity, id, name] = [textOf(item, "entity"), textOf(item, "id"), textOf(item, "name")];
  const revision = numberOf(item, "revision");
  const restore = drawButton("Restore", () => act("restore", { entity, id, revision }), {
    "aria-label": `Restore ${name}`,
    "data-key": `restore:${entity}/${id}`,
  });
  const deleted = `deleted by ${formatPerson(textOf(item, "deletedBy"))}`;
  const until = `can be restored until ${formatTime(textOf(item, "restorableUntil"))}`;
  const facts = [inWords(entity), deleted, until].join(", ");
  const text = el(
    "div",
    {},
    el("span", { class: "row-name" }, name),
    el("span", { class: "note" }, facts),
  );
  return el("li", {}, text, restore);
}
