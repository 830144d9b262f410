import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { drawButton } from "./draw.ts";
import { textOf } from "./read-json.ts";
import type { SectionContext } from "./section.ts";

/** A button that takes a deletion back. `entry` is one of the activity. */
export function drawUndo(takeBack: SectionContext["takeBack"], entry: JsonObject): HTMLElement {
  const [entity, id] = [textOf(entry, "entity"), textOf(entry, "entityId")];
  const attributes = { class: "small", "data-key": `undo:${entity}/${id}` };
  const button = drawButton("Undo", () => takeBack(entry), attributes);
  button.setAttribute("aria-label", `Undo: ${textOf(entry, "summary")}`);
  return button;
}
