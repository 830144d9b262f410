import { say } from "../../texts/say.ts";
import type { JsonObject } from "../../../protocol/json/value.ts";
import { createButton, el } from "../../dom.ts";

/** Creates the button below a result that was cut; it reads the whole result and shows it. */
export function createWholeResult(read: () => Promise<JsonObject | undefined>): HTMLElement {
  const button = createButton("", say("Show the whole result"));
  const root = el("section", { "aria-label": say("Whole result") }, button);
  button.addEventListener("click", () => {
    button.disabled = true;
    void read().then((result) => root.replaceChildren(...draw(result)));
  });
  return root;
}

function draw(result: JsonObject | undefined): readonly HTMLElement[] {
  if (!result)
    return [el("p", { class: "note", role: "status" }, say("The whole result is not kept."))];
  const { data, texts } = result;
  const written = Array.isArray(texts) ? texts : [];
  const pieces = [data, ...written].filter((piece) => piece !== undefined);
  return pieces.map((piece) =>
    el(
      "pre",
      { class: "whole-result", tabindex: "0" },
      typeof piece === "string" ? piece : JSON.stringify(piece, null, 2),
    ),
  );
}
