import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { fail, ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import {
  drawButton,
  drawEmpty,
  drawGroup,
  drawHeading,
  drawMarkdown,
  drawTag,
  formatMade,
  formatPerson,
  formatTime,
  plural,
} from "../draw.ts";
import { drawEditForm, hasDraft } from "../edit-form.ts";
import { VERBS } from "../graph/picture.ts";
import { listOf, numberOf, objectOf, textOf } from "../read-json.ts";
import { queryOf } from "../route.ts";
import type { Section, SectionContext } from "../section.ts";
import { SYSTEM_FIELDS, SYSTEM_TEXTS } from "./system-fields.ts";
import { showSystems } from "./system-list.ts";

export const systemsSection: Section = {
  name: "systems",
  title: "Systems",
  entities: ["system", "dependency"],
  show(context) {
    const { itemId } = context.route;
    if (itemId === undefined) return showSystems(context);
    return itemId === NEW ? Promise.resolve(ok(drawNew(context))) : showOne(context);
  },
};

/** Stands for the id in the address of a system that is being added. */
const NEW = "new";

const showOne: Section["show"] = async (context) => {
  const { api, route, owns } = context;
  const systemId = route.itemId ?? "";
  const [read, impact] = await Promise.all([
    api.read("get_game_system", { systemId }),
    api.read("get_impact_analysis", { systemId }),
  ]);
  if (!read.ok) return read.failure.code === "not_found" ? gone(context) : fail(read.failure);
  const system = objectOf(read.value, "system");
  if (!owns(system)) return ok([]);
  const isEdited = queryOf(route, "edit") !== "" || hasDraft(`system/${systemId}`);
  return ok([
    drawUp(context),
    drawHeading(
      textOf(system, "name"),
      drawTag(textOf(system, "mvpCriticality")),
      drawTag(textOf(system, "status")),
    ),
    el("p", { class: "note" }, [textOf(system, "systemSlug"), formatMade(system)].join(" · ")),
    ...(isEdited ? [drawEdit(context, system)] : drawTexts(context, system)),
    ...drawGroup(
      "Depends on",
      ...drawLinked(context, listOf(read.value, "dependsOn"), "It depends on no other system."),
      el(
        "a",
        { href: context.link("graph", systemId), "data-key": "to-board" },
        "Change dependencies on the board",
      ),
    ),
    ...drawGroup("Needed by", ...drawLinked(context, listOf(read.value, "requiredBy"))),
    ...(impact.ok ? drawImpact(context, impact.value) : []),
    ...drawGroup("Changes", drawChangelog(listOf(read.value, "changelog"))),
  ]);
};

function drawUp({ link }: SectionContext): HTMLElement {
  return el("a", { class: "up", href: link("systems"), "data-key": "up" }, "All systems");
}

/** The texts of a system, and what can be done with it. */
function drawTexts(context: SectionContext, system: JsonObject): HTMLElement[] {
  const { route, act, go, link } = context;
  const args = { systemId: textOf(system, "id"), revision: numberOf(system, "revision") };
  const { section, itemId = "" } = route;
  const edit = drawButton("Edit", async () => go({ section, itemId, query: { edit: "1" } }));
  const remove = drawButton("Move to bin", async () => {
    if (await act("delete_game_system", args)) go({ section: "systems" });
  });
  const file = { class: "button", href: link("exports", `system:${itemId}`), "data-key": "file" };
  return [
    el("div", { class: "actions" }, edit, el("a", file, "Export as Markdown"), remove),
    ...SYSTEM_TEXTS.flatMap(([key, title]) => {
      const text = textOf(system, key);
      return text === "" ? [] : drawGroup(title, drawMarkdown(text));
    }),
  ];
}

function drawEdit({ route, act, go }: SectionContext, row: JsonObject): HTMLElement {
  const { section, itemId = "" } = route;
  return drawEditForm({
    id: `system/${itemId}`,
    row,
    fields: SYSTEM_FIELDS,
    async save(changed) {
      const labels = SYSTEM_FIELDS.filter(({ name }) => Object.hasOwn(changed, name));
      const changeSummary = `Edited ${labels.map(({ label }) => label.toLowerCase()).join(", ")}`;
      // The reader saw the row as it is drawn. A later change refuses the call.
      const revision = numberOf(row, "revision");
      const args = { systemId: itemId, revision, changeSummary, ...changed };
      return (await act("update_game_system", args)) !== undefined;
    },
    close: () => go({ section, itemId }),
  });
}

/** A form for a system that does not exist yet. */
function drawNew(context: SectionContext): HTMLElement[] {
  const { projectId, act, go } = context;
  let made = "";
  const form = drawEditForm({
    id: `system/new/${projectId}`,
    row: {},
    fields: SYSTEM_FIELDS,
    submit: "Add the system",
    async save(changed) {
      const data = await act("create_game_system", { projectId, ...changed });
      made = data ? textOf(objectOf(data, "system"), "id") : "";
      return data !== undefined;
    },
    close: () => go({ section: "systems", ...(made && { itemId: made }) }),
  });
  return [drawUp(context), drawHeading("Add a system"), form];
}

function gone(context: SectionContext) {
  const hint = "It may be in the bin.";
  return ok([drawUp(context), drawEmpty("This system is not in the project any more.", hint)]);
}

function drawLinked(
  { link }: SectionContext,
  linked: readonly JsonObject[],
  empty = "",
): HTMLElement[] {
  if (linked.length === 0) return empty === "" ? [] : [el("p", {}, empty)];
  const items = linked.map((other) => {
    const href = link("systems", textOf(other, "systemId"));
    const name = el("a", { href, "data-key": href }, textOf(other, "name"));
    const type = textOf(other, "type");
    return el("li", {}, name, el("span", { class: "note" }, ` ${VERBS[type] ?? type}`));
  });
  return [el("ul", { class: "links" }, ...items)];
}

function drawImpact({ link }: SectionContext, impact: JsonObject): HTMLElement[] {
  const far = listOf(impact, "impacted").filter((system) => numberOf(system, "distance") > 1);
  const total = numberOf(impact, "total");
  if (far.length === 0) return [];
  const items = far.map((system) => {
    const href = link("systems", textOf(system, "systemId"));
    return el("li", {}, el("a", { href, "data-key": `impact:${href}` }, textOf(system, "name")));
  });
  const lead = `A change affects ${plural(total, "system")}. These depend on it through others:`;
  return drawGroup("Impact", el("p", {}, lead), el("ul", { class: "links" }, ...items));
}

function drawChangelog(entries: readonly JsonObject[]): HTMLElement {
  const items = entries.map((entry) => {
    const facts = [formatPerson(textOf(entry, "author")), formatTime(textOf(entry, "at"))];
    const by = el("span", { class: "note by" }, facts.filter(Boolean).join(", "));
    return el("li", {}, el("span", {}, textOf(entry, "summary")), " ", by);
  });
  return el("ol", { class: "log" }, ...items);
}
