import type { JsonObject } from "../../../protocol/json/value.ts";
import { fail, ok } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import {
  drawButton,
  drawEmpty,
  drawGroup,
  drawHeading,
  drawRows,
  drawTag,
  formatMade,
  formatPerson,
  formatTime,
  plural,
} from "../draw.ts";
import { VERBS } from "../graph/picture.ts";
import { listOf, numberOf, objectOf, textOf } from "../read-json.ts";
import type { Section, SectionContext } from "../section.ts";
import { drawImport } from "./import-system.ts";

export const systemsSection: Section = {
  name: "systems",
  title: "Systems",
  entities: ["system", "dependency"],
  show: (context) => (context.route.itemId ? showOne(context) : showList(context)),
};

const SEARCH_AFTER_MS = 300;

const showList: Section["show"] = async (context) => {
  const { api, projectId, route, link } = context;
  const { search } = route;
  const args = { projectId, limit: 100, ...(search && { search }) };
  const first = await api.read("list_game_systems", args);
  if (!first.ok) return first;
  const { total, items } = readPage(first.value);
  const rows = drawRows(
    "Systems",
    items.map((system) => toRow(system, link)),
  );
  const count = el("span", { class: "note" }, plural(total, "system"));
  const heading = drawHeading("Systems", count, ...drawImport(context));
  const field = search || total > 8 ? [drawSearch(context)] : [];
  if (total === 0) {
    const empty = search
      ? drawEmpty("No system matches.", "Search for another word.")
      : drawEmpty("This project has no systems yet.", 'Say in the chat: "Add a Combat Engine."');
    return ok([heading, ...field, empty]);
  }
  return ok([heading, ...field, rows, ...drawMore(context, { args, rows, page: first.value })]);
};

function readPage(page: JsonObject) {
  return {
    items: listOf(page, "items"),
    total: numberOf(page, "total"),
    next: textOf(page, "next"),
  };
}

function toRow(system: JsonObject, link: SectionContext["link"]) {
  return {
    href: link("systems", textOf(system, "id")),
    name: textOf(system, "name"),
    facts: [drawTag(textOf(system, "mvpCriticality")), drawTag(textOf(system, "status"))],
    text: textOf(system, "purpose"),
  };
}

function drawSearch({ route, go }: SectionContext): HTMLElement {
  const input = el("input", {
    type: "search",
    "aria-label": "Search systems",
    placeholder: "Search systems…",
    "data-key": "search",
    value: route.search ?? "",
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const search = input.value.trim();
      go({ section: "systems", ...(search && { search }) }, { isSilent: true });
    }, SEARCH_AFTER_MS);
  });
  return el("div", { class: "row" }, input);
}

/** A button that adds the next page to the list. */
function drawMore(
  { api, link }: SectionContext,
  shown: { readonly args: JsonObject; readonly rows: HTMLElement; readonly page: JsonObject },
): HTMLElement[] {
  let { next } = readPage(shown.page);
  if (next === "") return [];
  const notice = el("p", { class: "notice", role: "alert" });
  const button = drawButton("Show more", async () => {
    const page = await api.read("list_game_systems", { ...shown.args, after: next });
    notice.textContent = page.ok ? "" : page.failure.message;
    if (!page.ok) return;
    const { items, next: following } = readPage(page.value);
    const added = drawRows(
      "Systems",
      items.map((system) => toRow(system, link)),
    );
    shown.rows.append(...added.children);
    next = following;
    button.hidden = next === "";
  });
  return [button, notice];
}

const TEXTS = [
  ["purpose", "Purpose"],
  ["coreMechanics", "Core mechanics"],
  ["currentState", "Current state"],
  ["targetState", "Target state"],
  ["inputs", "Inputs"],
  ["outputs", "Outputs"],
  ["failureStates", "Failure states"],
  ["scalingBehavior", "Scaling"],
  ["implementationNotes", "Implementation notes"],
  ["openQuestions", "Open questions"],
] as const;

const showOne: Section["show"] = async (context) => {
  const { api, route, act, go, link } = context;
  const systemId = route.itemId ?? "";
  const [read, impact] = await Promise.all([
    api.read("get_game_system", { systemId }),
    api.read("get_impact_analysis", { systemId }),
  ]);
  if (!read.ok) return read.failure.code === "not_found" ? gone(context) : fail(read.failure);
  const system = objectOf(read.value, "system");
  const remove = drawButton("Move to bin", async () => {
    const revision = numberOf(system, "revision");
    if (await act("delete_game_system", { systemId, revision })) go({ section: "systems" });
  });
  return ok([
    el("a", { class: "up", href: link("systems"), "data-key": "up" }, "All systems"),
    drawHeading(
      textOf(system, "name"),
      drawTag(textOf(system, "mvpCriticality")),
      drawTag(textOf(system, "status")),
    ),
    el("p", { class: "note" }, [textOf(system, "systemSlug"), formatMade(system)].join(" · ")),
    ...TEXTS.flatMap(([key, title]) => {
      const text = textOf(system, key);
      return text === "" ? [] : drawGroup(title, el("p", { class: "prose" }, text));
    }),
    ...drawGroup("Depends on", ...drawLinked(context, listOf(read.value, "dependsOn"))),
    ...drawGroup("Needed by", ...drawLinked(context, listOf(read.value, "requiredBy"))),
    ...(impact.ok ? drawImpact(context, impact.value) : []),
    ...drawGroup("Changes", drawChangelog(listOf(read.value, "changelog"))),
    el("div", { class: "actions" }, remove),
  ]);
};

function gone({ link }: SectionContext) {
  const back = el("a", { class: "up", href: link("systems") }, "All systems");
  const hint = "It may be in the bin.";
  return ok([back, drawEmpty("This system is not in the project any more.", hint)]);
}

function drawLinked({ link }: SectionContext, linked: readonly JsonObject[]): HTMLElement[] {
  if (linked.length === 0) return [];
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
  const lead = `A change reaches ${plural(total, "system")}. Of these, through others:`;
  return drawGroup("Impact", el("p", {}, lead), el("ul", { class: "links" }, ...items));
}

function drawChangelog(entries: readonly JsonObject[]): HTMLElement {
  const items = entries.map((entry) => {
    const facts = [formatPerson(textOf(entry, "author")), formatTime(textOf(entry, "at"))];
    const note = el("span", { class: "note" }, ` ${facts.filter(Boolean).join(", ")}`);
    return el("li", {}, textOf(entry, "summary"), note);
  });
  return el("ol", { class: "log" }, ...items);
}
