import { el } from "../../../src/widget/dom.ts";
import { formatRoute, queryOf, type Route } from "./route.ts";

const SEARCH_AFTER_MS = 300;

/**
 * Creates the field that searches the project of the page. What it looks for stands in the address.
 * `results` holds the links of what is found.
 */
export function createSearchField(results: HTMLElement) {
  const input = el("input", {
    type: "search",
    "aria-label": "Search the project",
    placeholder: "Search…",
    hidden: "",
  });
  let shown: Route | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const search = (): void => {
    clearTimeout(timer);
    const text = input.value.trim();
    const isSearch = shown?.section === "search";
    if (!shown?.projectId || (text === "" && !isSearch)) return;
    const to = formatRoute({ projectId: shown.projectId, section: "search", query: { text } });
    // One search is one place in the history, however often its text changes.
    if (isSearch) location.replace(to);
    else location.hash = to;
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, SEARCH_AFTER_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") search();
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    results.querySelector<HTMLElement>(".hits a")?.focus();
  });
  return {
    root: input,
    /** Shows what the address looks for, unless the reader is writing. */
    update(route: Route): void {
      shown = route;
      input.hidden = route.projectId === undefined;
      if (input.matches(":focus")) return;
      input.value = route.section === "search" ? queryOf(route, "text") : "";
    },
  };
}
