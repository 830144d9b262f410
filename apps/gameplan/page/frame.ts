import { el } from "../../../src/widget/dom.ts";
import { formatRoute, type Route } from "./route.ts";
import { createSearchField } from "./search-field.ts";
import type { Section } from "./section.ts";

export type Side = "project" | "chat";

/** Creates the fixed parts of the page: switcher, sections, what is shown, and the chat. */
export function createFrame(sections: readonly Section[], chat: HTMLElement) {
  const projects = el("select", { "aria-label": "Project", hidden: "" });
  const links = new Map(
    sections.map((section) => [section.name, el("a", { href: "#" }, section.title)]),
  );
  const items = [...links.values()].map((link) => el("li", {}, link));
  const nav = el("nav", { "aria-label": "Sections" }, el("ul", {}, ...items));
  const offline = el("p", { class: "note offline", role: "status" });
  const news = el("div", { class: "news", role: "status" });
  const notice = el("p", { class: "notice", role: "alert" });
  const waiting = el("div", { class: "waiting", hidden: "" });
  const main = el("main", { tabindex: "-1", "aria-label": "Project" });
  const search = createSearchField(main);
  const header = el("header", {}, el("h1", {}, "GamePlan"), projects, search.root);
  const project = el("div", { class: "project" }, nav, offline, news, notice, waiting, main);
  const aside = el("aside", { "aria-label": "Assistant" }, chat);
  const [toProject, toChat] = [createSwitch("Project"), createSwitch("Chat")];
  const switcher = el("nav", { class: "switch", "aria-label": "Show" });
  switcher.append(toProject, toChat);
  const root = el("div", { class: "gameplan" }, header, switcher, project, aside);

  return {
    root,
    projects,
    main,
    news,
    notice,
    waiting,
    offline,
    project,
    /** On a phone only one side is seen. */
    showSide(side: Side): void {
      root.dataset["side"] = side;
      toProject.setAttribute("aria-pressed", String(side === "project"));
      toChat.setAttribute("aria-pressed", String(side === "chat"));
    },
    onSide(listener: (side: Side) => void): void {
      toProject.addEventListener("click", () => listener("project"));
      toChat.addEventListener("click", () => listener("chat"));
    },
    showRoute(route: Route): void {
      search.update(route);
      nav.hidden = route.projectId === undefined;
      for (const [name, link] of links) {
        link.href = formatRoute({
          ...(route.projectId && { projectId: route.projectId }),
          section: name,
        });
        const isCurrent = link.hasAttribute("aria-current");
        if (name !== route.section) link.removeAttribute("aria-current");
        else if (!isCurrent) {
          link.setAttribute("aria-current", "page");
          // A phone does not show all sections at once.
          link.scrollIntoView({ block: "nearest", inline: "nearest" });
        }
      }
    },
  };
}

function createSwitch(name: string): HTMLButtonElement {
  return el("button", { type: "button" }, name);
}
