import type { JsonObject } from "../../../protocol/json/value.ts";
import { ok } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import { drawEmpty, drawHeading, drawRows, drawTag, inWords, plural } from "../draw.ts";
import { drawMore, pagesIn, readPages, readWhole } from "../pages.ts";
import { textOf } from "../read-json.ts";
import { queryOf } from "../route.ts";
import type { Section, SectionContext } from "../section.ts";
import { drawImport } from "./import-system.ts";
import { CRITICALITIES, SYSTEM_STATUSES } from "./system-fields.ts";

const SEARCH_AFTER_MS = 300;

/** Lists systems with search, filters and order. All of them stand in the address. */
export const showSystems: Section["show"] = async (context) => {
  const { api, projectId, route, link } = context;
  const args = { projectId, ...askedIn(context) };
  const order = ORDERS[queryOf(route, "sort")];
  // The server lists by short name. Another order needs the whole list.
  const read = order
    ? await readWhole(api, { tool: "list_game_systems", args: args })
    : await readPages(api, { tool: "list_game_systems", args: args }, pagesIn(route));
  if (!read.ok) return read;
  const { items, total } = read.value;
  const count = el("span", { class: "note" }, plural(total, "system"));
  const add = el("a", { class: "button", href: link("systems", "new") }, "Add a system");
  const heading = drawHeading("Systems", count, add, ...drawImport(context));
  const isFiltered = Object.keys(args).length > 1;
  const tools = isFiltered || total > 1 ? [drawTools(context)] : [];
  if (total === 0) {
    const empty = isFiltered
      ? drawEmpty("No system matches.", "Search for another word, or show all.")
      : drawEmpty("This project has no systems yet.", 'Say in the chat: "Add a Combat Engine."');
    return ok([heading, ...tools, empty]);
  }
  const rows = (order ? items.toSorted(order) : items).map((system) => toRow(system, link));
  return ok([heading, ...tools, drawRows("Systems", rows), ...drawMore(context, read.value)]);
};

type Compare = (a: JsonObject, b: JsonObject) => number;

const ORDERS: Readonly<Record<string, Compare>> = {
  name: (a, b) => textOf(a, "name").localeCompare(textOf(b, "name")),
  changed: (a, b) => textOf(b, "updatedAt").localeCompare(textOf(a, "updatedAt")),
  critical: (a, b) => rank(a) - rank(b) || textOf(a, "name").localeCompare(textOf(b, "name")),
};

function rank(system: JsonObject): number {
  return CRITICALITIES.indexOf(textOf(system, "mvpCriticality"));
}

const FILTERS = [
  ["mvpCriticality", "How critical", CRITICALITIES],
  ["status", "Status", SYSTEM_STATUSES],
] as const;

const SORTS = [
  ["", "Short name"],
  ["name", "Name"],
  ["changed", "Last change"],
  ["critical", "How critical"],
] as const;

function askedIn({ route }: SectionContext): JsonObject {
  const search = queryOf(route, "search").slice(0, 80);
  const filters = FILTERS.flatMap(([name, , values]) => {
    const value = queryOf(route, name);
    return values.includes(value) ? [[name, value] as const] : [];
  });
  return { ...(search && { search }), ...Object.fromEntries(filters) };
}

function drawTools(context: SectionContext): HTMLElement {
  const selects = FILTERS.map(([name, label, values]) => {
    const options = [["", `${label}: all`], ...values.map((value) => [value, inWords(value)])];
    return drawChoice(context, { name, label, options });
  });
  const sorted = SORTS.map(([value, words]) => [value, `Sorted by ${words.toLowerCase()}`]);
  const sort = drawChoice(context, { name: "sort", label: "Order", options: sorted });
  return el("div", { class: "tools" }, drawSearch(context), ...selects, sort);
}

/** Shows the list again with another value in the address. The first page is shown then. */
function ask({ route, go }: SectionContext, name: string, value: string): void {
  const { pages: _, ...query } = route.query ?? {};
  go({ section: "systems", query: { ...query, [name]: value } }, { isSilent: true });
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

function drawChoice(
  context: SectionContext,
  choice: {
    readonly name: string;
    readonly label: string;
    readonly options: readonly (readonly string[])[];
  },
): HTMLElement {
  const { name, label, options } = choice;
  const select = el(
    "select",
    { "aria-label": label, "data-key": name },
    ...options.map(([value = "", words = ""]) => el("option", { value }, words)),
  );
  select.value = queryOf(context.route, name);
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  select.addEventListener("change", () => ask(context, name, select.value));
  return select;
}

function toRow(system: JsonObject, link: SectionContext["link"]) {
  return {
    href: link("systems", textOf(system, "id")),
    name: textOf(system, "name"),
    facts: [drawTag(textOf(system, "mvpCriticality")), drawTag(textOf(system, "status"))],
    text: textOf(system, "purpose"),
  };
}
