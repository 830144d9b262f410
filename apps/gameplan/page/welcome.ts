import { el } from "../../../src/widget/dom.ts";
import { formatRoute } from "./route.ts";
import type { SectionContext } from "./section.ts";
import { drawNewProject } from "./new-project.ts";

/** What a person can ask before there is a project. */
export const FIRST_QUESTIONS = [
  "Create a project called Puzzle Garden",
  "Start a project for a dungeon game",
];

/** Draws what a workspace without a project shows: every way to make one. */
export function drawWelcome(
  context: Pick<SectionContext, "act" | "go" | "makeExample">,
): HTMLElement {
  const lead =
    'Name your game here, or say in the chat: "Create a project called Puzzle Garden." ' +
    "The example shows what a project looks like.";
  return el(
    "div",
    { class: "nothing" },
    el("h2", { tabindex: "-1" }, "There is no project yet"),
    el("p", {}, lead),
    ...drawNewProject(context),
    el("a", { href: formatRoute({ section: "bin" }) }, "Bin"),
  );
}

/** Draws an address whose project the reader cannot see, or that is not there any more. */
export function drawUnknownProject(first: string | undefined): HTMLElement {
  const bin = el("a", { href: formatRoute({ section: "bin" }) }, "Bin");
  const other =
    first === undefined
      ? []
      : [
          el(
            "a",
            { href: formatRoute({ projectId: first, section: "systems" }) },
            "Another project",
          ),
        ];
  return el(
    "div",
    { class: "nothing" },
    el("h2", { tabindex: "-1" }, "This project is not known"),
    el("p", {}, "The address names a project that was deleted, or that you cannot see."),
    el("p", { class: "actions" }, ...other, bin),
  );
}
