import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { drawPerson } from "./person.ts";
import { objectOf, textOf } from "./read-json.ts";
import { parseRoute } from "./route.ts";

/** How long a row carries who changed it. Unit: milliseconds. */
const MARKED_MS = 120_000;
/** Changes of one moment, by the clock of the server. Unit: milliseconds. */
const MOMENT_MS = 30_000;

/**
 * Marks the rows that colleagues have just changed with their names and colours, wherever the page
 * shows a row: in a list, and above what is open.
 */
export function createMarks(main: HTMLElement) {
  const marked = new Map<string, { readonly who: string; readonly untilMs: number }>();
  const draw = (): void => {
    for (const old of main.querySelectorAll(".just-changed")) old.remove();
    for (const [id, { who, untilMs }] of marked) {
      if (untilMs <= Date.now()) marked.delete(id);
      else for (const place of placesOf(main, id)) place.append(drawMark(who));
    }
  };
  // Each part of the page is drawn again as a whole. Its new elements have no marks yet.
  new MutationObserver(draw).observe(main, { childList: true });
  return {
    /** Takes the newest entries of the activity, of which the first has just happened. */
    note(entries: readonly JsonObject[]): void {
      const newestMs = Date.parse(textOf(entries[0] ?? {}, "at"));
      for (const entry of entries.toReversed()) {
        // Only the reader's own changes name their call.
        const isOwn = textOf(objectOf(entry, "call"), "runId") !== "";
        const id = textOf(entry, "entityId");
        if (!(newestMs - Date.parse(textOf(entry, "at")) <= MOMENT_MS)) continue;
        if (isOwn) marked.delete(id);
        else marked.set(id, { who: textOf(entry, "actor"), untilMs: Date.now() + MARKED_MS });
      }
      draw();
      setTimeout(draw, MARKED_MS);
    },
  };
}

function drawMark(who: string): HTMLElement {
  const mark = drawPerson(who, ", just now");
  mark.classList.add("just-changed");
  return mark;
}

/** Where the page shows a row: links to it in lists, and the heading of what is open. */
function placesOf(main: HTMLElement, id: string): readonly Element[] {
  const links = [...main.querySelectorAll<HTMLAnchorElement>(".rows a")];
  const places: Element[] = links.filter(({ hash }) => parseRoute(hash).itemId === id);
  const heading = main.querySelector(".heading-row");
  if (heading && parseRoute(location.hash).itemId === id) places.push(heading);
  return places;
}
