import card from "../approval/card.css";
import controls from "../controls.css";
import elements from "../elements.css";
import form from "../approval/form.css";
import frame from "./frame.css";
import packetView from "../approval/packet-view.css";
import picture from "./picture.css";
import sections from "./sections.css";
import textView from "../markdown/text-view.css";
import theme from "../theme.css";
import tokenForm from "../token-form.css";
import { toSheet } from "../style-sheets.ts";

/** Creates the style sheets of the page. Of rules with equal specificity the later sheet wins. */
export function createGameplanSheets(): CSSStyleSheet[] {
  const shared = [theme, elements, controls, tokenForm, card, packetView, form];
  return [...shared, textView, frame, sections, picture].map(toSheet);
}
