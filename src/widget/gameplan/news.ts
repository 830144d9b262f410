import type { JsonObject } from "../../protocol/json/value.ts";
import { el } from "../dom.ts";
import type { GameplanApi } from "./api.ts";
import { formatPerson } from "./draw.ts";
import { listOf, objectOf, textOf } from "./read-json.ts";
import type { SectionContext } from "./section.ts";
import { drawUndo } from "./undo-button.ts";

/**
 * Creates the line that says what changed last in the project, with Undo where the reader may undo
 * it.
 */
export function createNews(
  place: HTMLElement,
  {
    api,
    takeBack,
  }: Pick<SectionContext, "takeBack"> & { readonly api: Pick<GameplanApi, "read" | "canUndo"> },
) {
  let shownOf: string | undefined;
  const hide = (): void => place.replaceChildren();
  const draw = (entry: JsonObject): void => {
    const who = formatPerson(textOf(entry, "actor"));
    const text = el("p", {}, `${who}: ${textOf(entry, "summary")}`);
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
    /** Reads the newest entry of the activity, after a change. */
    async read(projectId: string): Promise<void> {
      const read = await api.read("get_project_activity", { projectId, limit: 1 });
      const [entry] = read.ok ? listOf(read.value, "items") : [];
      if (entry && projectId === shownOf) draw(entry);
    },
  };
}
