import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawEmpty, drawGroup, drawHeading } from "../draw.ts";
import { listOf, numberOf, textOf, textsOf } from "../read-json.ts";
import { formatRoute, queryOf } from "../route.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import { SYSTEM_FIELDS } from "./system-fields.ts";

/** Kinds of rows in the order of the results. */
const KINDS = [
  ["system", "Systems"],
  ["version_plan", "Plans"],
  ["idea_thread", "Threads"],
  ["idea_message", "Messages"],
  ["brainstorm", "Brainstorms"],
] as const;

const FIELDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SYSTEM_FIELDS.map(({ name, label }) => [name, label])),
  version: "Version",
  goal: "Goal",
  title: "Title",
  text: "Message",
  results: "Results",
  content: "Notes",
};

const MOST_TEXT = 80;

/** Shows where a text stands in the project, by kind of row. */
export const showSearch: ShowSection = async (context) => {
  const { api, projectId, route } = context;
  const text = queryOf(route, "text").slice(0, MOST_TEXT);
  const heading = drawHeading("Search");
  if (text.trim() === "") {
    const hint = "Systems, plans, threads with their messages, and brainstorms are searched.";
    return ok([heading, drawEmpty("Write what you look for above.", hint)]);
  }
  const read = await api.read("search_project", { projectId, text });
  if (!read.ok) return read;
  const items = listOf(read.value, "items");
  if (items.length === 0) {
    return ok([heading, drawEmpty(`Nothing in this project says "${text}".`, "")]);
  }
  const more = textsOf(read.value, "more");
  const hits = el("div", { class: "hits" });
  for (const [entity, title] of KINDS) {
    const found = items.filter((item) => textOf(item, "entity") === entity);
    if (found.length === 0) continue;
    const rows = found.map((item) => drawHit(context, item, text));
    const list = el("ul", { class: "rows", "aria-label": title }, ...rows);
    const note = `There are more than ${found.length}. Search for more words of the text.`;
    const rest = more.includes(entity) ? [el("p", { class: "note" }, note)] : [];
    hits.append(...drawGroup(title, list, ...rest));
  }
  hits.addEventListener("keydown", moveFocus);
  return ok([heading, hits]);
};

/** The arrows lead from one result to the next one. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const hits = event.currentTarget;
  if (step === undefined || !(hits instanceof HTMLElement)) return;
  event.preventDefault();
  const links = [...hits.querySelectorAll("a")];
  const at = links.findIndex((link) => link.matches(":focus"));
  links[at + step]?.focus();
}

function drawHit(context: SectionContext, item: JsonObject, text: string): HTMLElement {
  const href = addressOf(context, item);
  const field = textOf(item, "field");
  const link = el(
    "a",
    { href, "data-key": href },
    el("span", { class: "row-name" }, textOf(item, "name")),
    el("span", { class: "row-facts" }, FIELDS[field] ?? ""),
    el("span", { class: "row-text" }, ...markText(textOf(item, "excerpt"), text)),
  );
  return el("li", {}, link);
}

function markText(excerpt: string, text: string): (Node | string)[] {
  const at = excerpt.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return [excerpt];
  const end = at + text.length;
  return [excerpt.slice(0, at), el("mark", {}, excerpt.slice(at, end)), excerpt.slice(end)];
}

/** Most messages of a page of a thread, as the server pages it. */
const MESSAGES_OF_PAGE = 20;

function addressOf({ projectId, link }: SectionContext, item: JsonObject): string {
  const [entity, id] = [textOf(item, "entity"), textOf(item, "id")];
  if (entity === "system") return link("systems", id);
  if (entity === "version_plan") return link("plans", id);
  if (entity === "idea_thread") return link("ideas", `thread:${id}`);
  if (entity === "brainstorm") return link("ideas", `brainstorm:${id}`);
  const number = numberOf(item, "number");
  const pages = String(Math.ceil(number / MESSAGES_OF_PAGE));
  return formatRoute({
    projectId,
    section: "ideas",
    itemId: `thread:${textOf(item, "threadId")}`,
    query: { message: String(number), pages },
  });
}
