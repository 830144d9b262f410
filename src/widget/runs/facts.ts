import type { AuditEntry } from "../../protocol/audit/entry.ts";
import { formatEntry } from "../../protocol/run/words.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { say, sayWords, type Text } from "../texts/say.ts";
import { el } from "../dom.ts";
import { formatTime } from "./labels.ts";

/** Draws records as sentences, oldest first. */
export function drawEntries(entries: readonly AuditEntry[]): HTMLElement {
  const lines = entries.flatMap((entry) => {
    const words = formatEntry(entry, sayWords);
    if (words === undefined) return [];
    const at = el("time", { datetime: entry.at }, formatTime(entry.at));
    return [el("li", {}, at, el("span", {}, toVisible(words).text))];
  });
  return el("ol", { class: "records" }, ...lines);
}

/**
 * Draws names and values, the names in the language of the page; those without a value are left
 * out.
 */
export function drawPairs(
  pairs: readonly (readonly [name: Text, value: string | Node | undefined])[],
): HTMLElement {
  const drawn = pairs.flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          el(
            "div",
            {},
            el("dt", {}, say(name)),
            el("dd", {}, typeof value === "string" ? toVisible(value).text : value),
          ),
        ],
  );
  return el("dl", {}, ...drawn);
}

/** Links a run by its id. */
export function linkRun(runId: string): HTMLElement {
  return el("a", { href: `#${encodeURIComponent(runId)}`, class: "run" }, toVisible(runId).text);
}
