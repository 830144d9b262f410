import type { JsonObject } from "../../../protocol/json/value.ts";
import { ok } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import { drawButton, drawEmpty, drawHeading, formatPerson, formatTime } from "../draw.ts";
import { drawMore, pagesIn, readPages, readWhole } from "../pages.ts";
import { textOf } from "../read-json.ts";
import type { Section, SectionContext } from "../section.ts";

/** Everything that changes a project is in its activity. */
export const EVERY_ENTITY = [
  "project",
  "system",
  "dependency",
  "brainstorm",
  "version_plan",
  "idea_thread",
  "idea_message",
  "export",
];

export const activitySection: Section = {
  name: "activity",
  title: "Activity",
  entities: EVERY_ENTITY,
  async show(context) {
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
  },
};

function keyOf(value: JsonObject, idKey: string): string {
  return `${textOf(value, "entity")}/${textOf(value, idKey)}`;
}

function drawEntry(
  { takeBack }: Pick<SectionContext, "takeBack">,
  entry: JsonObject,
  isUndoable: boolean,
): HTMLElement {
  const facts = [formatPerson(textOf(entry, "actor")), formatTime(textOf(entry, "at"))];
  const note = el("span", { class: "note" }, ` ${facts.filter(Boolean).join(", ")} `);
  const item = el("li", {}, textOf(entry, "summary"), note);
  if (isUndoable) item.append(drawUndo(takeBack, entry));
  return item;
}

/** A button that takes a deletion back. `entry` is one of the activity. */
export function drawUndo(takeBack: SectionContext["takeBack"], entry: JsonObject): HTMLElement {
  const [entity, id] = [textOf(entry, "entity"), textOf(entry, "entityId")];
  const attributes = { class: "small", "data-key": `undo:${entity}/${id}` };
  const button = drawButton("Undo", () => takeBack(entry), attributes);
  button.setAttribute("aria-label", `Undo: ${textOf(entry, "summary")}`);
  return button;
}
