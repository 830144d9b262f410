import { ok } from "../../../../src/protocol/outcome/result.ts";
import { toVisible } from "../../../../src/protocol/text/visible.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawLine } from "../../../../src/widget/markdown/text-view.ts";
import { drawButton, drawEmpty, drawHeading, drawTag, formatTime, inWords } from "../draw.ts";
import { pagesIn } from "../pages.ts";
import { drawPerson } from "../person.ts";
import { type Question, readQuestions } from "../read-questions.ts";
import type { SectionContext, ShowSection } from "../section.ts";

const LEAD =
  "What people asked the assistant, in every project. You see the words of your own questions. " +
  "Who may see the runs of others sees that they asked, and what was called.";

/** Who asked the assistant what, when, and with which result. */
export const showQuestions: ShowSection = async (context) => {
  const { server, assistantId, route, go } = context;
  const pages = pagesIn(route);
  const read = await readQuestions(server, assistantId, pages);
  if (!read.ok) return read;
  const { items, hasMore } = read.value;
  const again = drawButton("Read again", async () => go(route, { isSilent: true }), {
    class: "small",
  });
  const heading = drawHeading("Questions", again);
  if (items.length === 0 && !hasMore) {
    const hint = "Ask the assistant in the chat. Your question is listed here.";
    return ok([heading, drawEmpty("Nobody has asked anything yet.", hint)]);
  }
  const list = el("ol", { class: "rows", "aria-label": "Questions" }, ...items.map(drawQuestion));
  return ok([heading, el("p", { class: "note" }, LEAD), list, ...drawOlder(context, hasMore)]);
};

const SHOWN_CHARACTERS = 240;

function drawQuestion({ runId, status, askedBy, at, tools, words }: Question): HTMLElement {
  const href = `runs#${encodeURIComponent(runId)}`;
  const name = words ? cut(words.asked) || "A file" : "A question in somebody else's chat";
  const link = el("a", { href, "data-key": href }, el("bdi", { class: "row-name" }, name));
  const time = el("time", { datetime: at }, formatTime(at));
  link.append(el("span", { class: "row-facts" }, drawTag(status), drawPerson(askedBy), time));
  if (words && words.answered !== "") {
    link.append(el("bdi", { class: "row-text" }, drawLine(cut(words.answered))));
  }
  const called = tools.map(nameOfTool).join(", ");
  if (called !== "") link.append(el("span", { class: "row-text" }, `Called: ${called}`));
  return el("li", {}, link);
}

/** `gameplan__create_version_plan` is "create version plan". */
function nameOfTool(id: string): string {
  return inWords(id.replace(/^.*?__/, "")).toLowerCase();
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
    go({ section: route.section, query: { pages } }, { isSilent: true }),
  );
  return [el("p", { class: "more" }, more)];
}
