import { ok } from "../../../../src/protocol/outcome/result.ts";
import { toVisible } from "../../../../src/protocol/text/visible.ts";
import { friendlyName } from "../../../../src/widget/chat/answer/fields.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawLine } from "../../../../src/widget/markdown/text-view.ts";
import { drawButton, drawEmpty, drawHeading, drawTag, formatTime } from "../draw.ts";
import { drawChoice } from "../list-tools.ts";
import { pagesIn } from "../pages.ts";
import { drawPerson } from "../person.ts";
import { type Question, readQuestions } from "../read-questions.ts";
import { queryOf } from "../route.ts";
import type { SectionContext, ShowSection } from "../section.ts";

const OF_PROJECT =
  "Your own questions about this project. A question counts when one of its calls names the " +
  "project, or when it follows such a question in the same chat. Choose All projects for every " +
  "other question, and for those of other people.";
const OF_ALL =
  "What people asked the assistant, in every project. You read the words of your own questions. " +
  "Of other people's you see who asked, when, and which tools were called, if you may see their runs.";

const CHOICE = {
  name: "of",
  label: "Questions about",
  options: [
    ["", "This project"],
    ["all", "All projects"],
  ],
} as const;

/** Who asked the assistant what, when, and with which result. */
export const showQuestions: ShowSection = async (context) => {
  const { server, assistantId, route, go, projectId } = context;
  const read = await readQuestions(server, assistantId, pagesIn(route));
  if (!read.ok) return read;
  const { items, hasMore } = read.value;
  const again = drawButton("Refresh", async () => go(route, { isSilent: true }), {
    class: "small",
  });
  const heading = drawHeading("Questions", again);
  if (items.length === 0 && !hasMore) {
    const hint = "Ask the assistant in the chat. Your question is listed here.";
    return ok([heading, drawEmpty("Nobody has asked anything yet.", hint)]);
  }
  const isAll = queryOf(route, CHOICE.name) === "all";
  const shown = items.filter(({ own }) => isAll || own?.projectIds.includes(projectId));
  const tools = el("div", { class: "tools" }, drawChoice(context, CHOICE));
  const lead = el("p", { class: "note" }, isAll ? OF_ALL : OF_PROJECT);
  const list =
    shown.length > 0
      ? el("ol", { class: "rows", "aria-label": "Questions" }, ...shown.map(drawQuestion))
      : el("p", {}, "There is no such question among the newest ones.");
  return ok([heading, tools, lead, list, ...drawOlder(context, hasMore)]);
};

const SHOWN_CHARACTERS = 240;

function drawQuestion({ runId, status, askedBy, at, tools, own }: Question): HTMLElement {
  const href = `runs#${encodeURIComponent(runId)}`;
  const name = own ? cut(own.asked) || "A file" : "A question in somebody else's chat";
  const link = el("a", { href, "data-key": href }, el("bdi", { class: "row-name" }, name));
  const time = el("time", { datetime: at }, formatTime(at));
  link.append(el("span", { class: "row-facts" }, drawTag(status), drawPerson(askedBy), time));
  if (own && own.answered !== "") {
    link.append(el("bdi", { class: "row-text" }, drawLine(cut(own.answered))));
  }
  const called = cut(tools.map((id) => friendlyName(id).toLowerCase()).join(", "));
  if (called !== "") link.append(el("bdi", { class: "row-text" }, `Called: ${called}`));
  return el("li", {}, link);
}

/** Threat: words that people and models wrote hide others, or turn their direction. */
function cut(words: string): string {
  const text = toVisible(words.replaceAll(/\s+/g, " ")).text;
  return text.length > SHOWN_CHARACTERS
    ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed().trimEnd()}…`
    : text;
}

function drawOlder({ route, go }: SectionContext, hasMore: boolean): HTMLElement[] {
  if (!hasMore) return [];
  const pages = String(pagesIn(route) + 1);
  const more = drawButton("Show more", async () =>
    go({ section: route.section, query: { ...route.query, pages } }, { isSilent: true }),
  );
  return [el("p", { class: "more" }, more)];
}
