import { el } from "../../../src/widget/dom.ts";
import { formatPerson } from "./draw.ts";

/** Draws a person with their colour, which their id decides: it is the same on every page. */
export function drawPerson(actorId: string, doing = ""): HTMLElement {
  const person = el("span", { class: "person" }, `${formatPerson(actorId)}${doing}`);
  person.style.setProperty("--hue", String(hueOf(actorId)));
  return person;
}

/** Unit: degrees. Ids that differ little get hues that differ much. */
function hueOf(actorId: string): number {
  let hash = 0;
  for (const character of actorId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 3_600;
  return (hash * 137) % 360;
}
