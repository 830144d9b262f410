import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawEmpty, drawHeading, formatTime } from "../draw.ts";
import { drawPerson } from "../person.ts";
import { drawMore, pagesIn, readPages, readWhole } from "../pages.ts";
import { textOf } from "../read-json.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import { drawUndo } from "../undo-button.ts";

export const showActivity: ShowSection = async (context) => {
  const { api, projectId, route } = context;
  const [activity, bin] = await Promise.all([
    readPages(api, { tool: "get_project_activity", args: { projectId } }, pagesIn(route)),
    readWhole(api, { tool: "list_bin", args: { projectId } }),
  ]);
  if (!activity.ok) return activity;
  const binned = new Set((bin.ok ? bin.value.items : []).map((item) => keyOf(item, "id")));
  const { items } = activity.value;
  const heading = drawHeading("Activity");
  if (items.length === 0) {
    return ok([heading, drawEmpty("Nothing has happened yet.", "Every change is listed here.")]);
  }
  const entries = items.map((entry) => {
    // Only the newest deletion of a row can be undone here.
    const isUndoable =
      textOf(entry, "action") === "deleted" && binned.delete(keyOf(entry, "entityId"));
    return drawEntry(context, entry, isUndoable);
  });
  const list = el("ol", { class: "log activity" }, ...entries);
  return ok([heading, list, ...drawMore(context, activity.value)]);
};

function keyOf(value: JsonObject, idKey: string): string {
  return `${textOf(value, "entity")}/${textOf(value, idKey)}`;
}

function drawEntry(
  { takeBack }: Pick<SectionContext, "takeBack">,
  entry: JsonObject,
  isUndoable: boolean,
): HTMLElement {
  const time = el("span", { class: "note" }, formatTime(textOf(entry, "at")));
  const by = el("span", { class: "by" }, drawPerson(textOf(entry, "actor")), " ", time);
  const item = el("li", {}, el("span", {}, textOf(entry, "summary")), " ", by);
  if (isUndoable) item.append(drawUndo(takeBack, entry));
  return item;
}
