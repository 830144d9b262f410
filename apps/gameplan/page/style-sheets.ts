import card from "../../../src/widget/approval/card.css";
import controls from "../../../src/widget/controls.css";
import elements from "../../../src/widget/elements.css";
import form from "../../../src/widget/approval/form.css";
import frame from "./frame.css";
import packetView from "../../../src/widget/approval/packet-view.css";
import picture from "./picture.css";
import sections from "./sections.css";
import textView from "../../../src/widget/markdown/text-view.css";
import theme from "../../../src/widget/theme.css";
import tokenForm from "../../../src/widget/token-form.css";
import { toSheet } from "../../../src/widget/style-sheets.ts";

/** Creates the style sheets of the page. Of rules with equal specificity the later sheet wins. */
export function createGameplanSheets(): CSSStyleSheet[] {
  const shared = [theme, elements, controls, tokenForm, card, packetView, form];
  return [...shared, textView, frame, sections, picture].map(toSheet);
}
