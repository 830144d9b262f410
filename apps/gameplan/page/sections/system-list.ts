import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawEmpty, drawHeading, drawRows, drawTag, plural } from "../draw.ts";
import {
  ask,
  byText,
  drawChoices,
  filtersIn,
  type ListChoices,
  readOrdered,
} from "../list-tools.ts";
import { drawMore } from "../pages.ts";
import { textOf } from "../read-json.ts";
import { queryOf } from "../route.ts";
import type { Section, SectionContext } from "../section.ts";
import { CRITICALITIES, SYSTEM_STATUSES } from "./system-fields.ts";

const SEARCH_AFTER_MS = 300;

/** Lists systems with search, filters and order. All of them stand in the address. */
export const showSystems: Section["show"] = async (context) => {
  const { projectId, link } = context;
  const args = { projectId, ...askedIn(context) };
  const read = await readOrdered(context, { tool: "list_game_systems", args }, CHOICES);
  if (!read.ok) return read;
  const { items, total } = read.value;
  const count = el("span", { class: "note" }, plural(total, "system"));
  const add = el("a", { class: "button", href: link("systems", "new") }, "Add a system");
  const from = el("a", { class: "button", href: link("import") }, "Import Markdown");
  const heading = drawHeading("Systems", count, add, from);
  const isFiltered = Object.keys(args).length > 1;
  const tools = isFiltered || total > 1 ? [drawTools(context)] : [];
  if (total === 0) {
    const empty = isFiltered
      ? drawEmpty("No system matches.", "Search for another word, or show all.")
      : drawEmpty("This project has no systems yet.", 'Say in the chat: "Add a Combat Engine."');
    return ok([heading, ...tools, empty]);
  }
  const rows = items.map((system) => toRow(system, link));
  return ok([heading, ...tools, drawRows("Systems", rows), ...drawMore(context, read.value)]);
};

function rank(system: JsonObject): number {
  return CRITICALITIES.indexOf(textOf(system, "mvpCriticality"));
}

const CHOICES: ListChoices = {
  filters: [
    { name: "mvpCriticality", label: "How critical", values: CRITICALITIES },
    { name: "status", label: "Status", values: SYSTEM_STATUSES },
  ],
  orders: [
    { name: "", label: "Short name" },
    { name: "name", label: "Name", compare: byText("name") },
    { name: "changed", label: "Last change", compare: (a, b) => byText("updatedAt")(b, a) },
    {
      name: "critical",
      label: "How critical",
      compare: (a, b) => rank(a) - rank(b) || byText("name")(a, b),
    },
  ],
};

function askedIn({ route }: SectionContext): JsonObject {
  const search = queryOf(route, "search").slice(0, 80);
  return { ...(search && { search }), ...filtersIn(route, CHOICES.filters) };
}

function drawTools(context: SectionContext): HTMLElement {
  return el("div", { class: "tools" }, drawSearch(context), ...drawChoices(context, CHOICES));
}

function drawSearch(context: SectionContext): HTMLElement {
  const input = el("input", {
    type: "search",
    "aria-label": "Search systems",
    placeholder: "Search systems…",
    "data-key": "search",
    value: queryOf(context.route, "search"),
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(context, "search", input.value.trim()), SEARCH_AFTER_MS);
  });
  return input;
}

function toRow(system: JsonObject, link: SectionContext["link"]) {
  return {
    href: link("systems", textOf(system, "id")),
    name: textOf(system, "name"),
    facts: [drawTag(textOf(system, "mvpCriticality")), drawTag(textOf(system, "status"))],
    text: textOf(system, "purpose"),
  };
}
