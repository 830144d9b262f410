import { InterlockLauncher } from "../interlock-launcher.ts";
import { createTokenSource } from "./token-source.ts";

/** Attributes of the script that become attributes of the chat, without `data-`. */
const PASSED_ON = [
  "assistant",
  "model",
  "tools",
  "connections",
  "workspace",
  "image-hosts",
  "tokenless",
  "lang",
  "scheme",
];
const MODES = ["bubble", "panel", "inline"];

// `currentScript` is null in a module, so this file is a classic script.
const script = document.currentScript;
if (script instanceof HTMLScriptElement) placeChat(script);

/**
 * Places the chat that a script tag asks for; docs/embedding.md lists its attributes.
 * Fails: throws for a mode that does not exist, and for an inline chat without a place.
 */
function placeChat(tag: HTMLScriptElement): void {
  const folder = new URL(".", tag.src);
  InterlockLauncher.source = new URL("widget.js", folder).href;
  const { mode = "bubble", side, label, token, open, endpoint = folder.href } = tag.dataset;
  if (!MODES.includes(mode)) throw new Error(`data-mode is one of ${MODES.join(", ")}: ${mode}`);
  const chat = document.createElement("interlock-chat");
  chat.setAttribute("endpoint", endpoint);
  for (const name of PASSED_ON) {
    const value = tag.getAttribute(`data-${name}`);
    if (value !== null) chat.setAttribute(name, value);
  }
  if (token !== undefined) Object.assign(chat, { getToken: createTokenSource(token) });
  if (mode === "inline") return placeInline(tag, chat);
  const launcher = document.createElement("interlock-launcher");
  const attributes = { mode, side, label, open };
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) launcher.setAttribute(name, value);
  }
  for (const name of ["lang", "scheme"]) {
    const value = chat.getAttribute(name);
    if (value !== null) launcher.setAttribute(name, value);
  }
  launcher.append(chat);
  document.body.append(launcher);
}

function placeInline(tag: HTMLScriptElement, chat: HTMLElement): void {
  if (!document.body.contains(tag)) {
    throw new Error('With data-mode="inline" the script stands in the body, where the chat goes.');
  }
  tag.before(chat);
  void import(InterlockLauncher.source);
}
