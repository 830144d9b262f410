import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { el } from "../../../src/widget/dom.ts";
import type { GameplanApi } from "./api.ts";
import { createMarks } from "./marks.ts";
import { drawPerson } from "./person.ts";
import { listOf, objectOf, textOf } from "./read-json.ts";
import type { SectionContext } from "./section.ts";
import { drawUndo } from "./undo-button.ts";

/** Entries of one moment that are read together. */
const NEWEST = 20;

/**
 * Creates the line that says what changed last in the project, with Undo where the reader may undo
 * it. The rows that changed carry who changed them.
 */
export function createNews(
  { news: place, main }: { readonly news: HTMLElement; readonly main: HTMLElement },
  {
    api,
    takeBack,
  }: Pick<SectionContext, "takeBack"> & { readonly api: Pick<GameplanApi, "read" | "canUndo"> },
) {
  let shownOf: string | undefined;
  const marks = createMarks(main);
  const hide = (): void => place.replaceChildren();
  const draw = (entry: JsonObject): void => {
    const text = el("p", {}, drawPerson(textOf(entry, "actor")), `: ${textOf(entry, "summary")}`);
    const isDeletion = textOf(entry, "action") === "deleted";
    const close = el("button", { type: "button", class: "small" }, "Hide");
    close.addEventListener("click", hide);
    place.replaceChildren(text, ...(isDeletion ? [drawUndo(takeBack, entry)] : []), close);
    if (!isDeletion) void offerUndo(entry, close);
  };
  /** Adds Undo before an element that is still shown, where the reader may undo the call. */
  const offerUndo = async (entry: JsonObject, before: HTMLElement): Promise<void> => {
    const call = objectOf(entry, "call");
    const canUndo = await api.canUndo(textOf(call, "runId"), textOf(call, "toolCallId"));
    if (canUndo && before.isConnected) before.before(drawUndo(takeBack, entry));
  };
  return {
    /** The news of another project are gone. */
    update(projectId: string | undefined): void {
      if (projectId !== shownOf) hide();
      shownOf = projectId;
    },
    /** Reads the newest entries of the activity, after a change. */
    async read(projectId: string): Promise<void> {
      const read = await api.read("get_project_activity", { projectId, limit: NEWEST });
      const entries = read.ok ? listOf(read.value, "items") : [];
      const [entry] = entries;
      if (!entry || projectId !== shownOf) return;
      draw(entry);
      marks.note(entries);
    },
  };
}
