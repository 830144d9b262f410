import actionSection from "./desk/action-section.css";
import bulkBar from "./desk/bulk-bar.css";
import card from "./approval/card.css";
import composer from "./chat/composer.css";
import desk from "./desk/desk.css";
import controls from "./controls.css";
import elements from "./elements.css";
import emptyState from "./chat/empty-state.css";
import exchangeEnding from "./chat/exchange/exchange-ending.css";
import exchangeView from "./chat/exchange/exchange-view.css";
import form from "./approval/form.css";
import header from "./chat/header.css";
import list from "./panes/list.css";
import log from "./chat/log.css";
import panes from "./panes/panes.css";
import packetView from "./approval/packet-view.css";
import reasoningView from "./chat/exchange/reasoning-view.css";
import runView from "./runs/view.css";
import textView from "./markdown/text-view.css";
import theme from "./theme.css";
import tokenForm from "./token-form.css";
import toolCard from "./chat/tool-card/tool-card.css";
import toolProgress from "./chat/tool-card/tool-progress.css";
import view from "./chat/view.css";

const SHARED = [theme, elements, controls, tokenForm];
const APPROVALS = [card, packetView, form];

/** Creates the style sheets of the chat. Of rules with equal specificity the later sheet wins. */
export function createChatSheets(): CSSStyleSheet[] {
  const chat = [view, header, log, emptyState, exchangeView, exchangeEnding, textView, composer];
  return [...SHARED, ...chat, reasoningView, toolCard, toolProgress].map(toSheet);
}

/** Creates the style sheets of the operators' desk. */
export function createDeskSheets(): CSSStyleSheet[] {
  return [...SHARED, ...APPROVALS, panes, desk, list, actionSection, bulkBar].map(toSheet);
}

/** Creates the style sheets of the page of runs. */
export function createRunsSheets(): CSSStyleSheet[] {
  return [...SHARED, panes, list, runView].map(toSheet);
}

/** A strict content security policy forbids inline styles, so a style is a sheet object. */
export function toSheet(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}
