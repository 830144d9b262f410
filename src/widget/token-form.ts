import { say } from "./texts/say.ts";
import { el } from "./dom.ts";

export interface TokenForm {
  readonly root: HTMLElement;
  /** Shows the form and focuses it when a token is needed; `wasRefused` after a rejected token. */
  update(state: { readonly isNeeded: boolean; readonly wasRefused: boolean }): void;
}

/** Printable ASCII without spaces: a header can hold no other characters. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Asks the reader for the API token when the server requires one. */
export function createTokenForm(onToken: (token: string) => void): TokenForm {
  const input = el("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "token-hint",
  });
  const hint = el("p", { id: "token-hint", "aria-live": "polite" });
  const row = el(
    "div",
    { class: "row" },
    input,
    el("button", { class: "primary" }, say("Continue")),
  );
  const label = el("label", { for: "token" }, say("Access token"));
  const root = el("form", { class: "token", hidden: "" }, label, hint, row);
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (!TOKEN.test(token)) {
      hint.textContent = say(
        "A token has no spaces and no special letters. Check it and try again.",
      );
      return;
    }
    input.value = "";
    onToken(token);
  });
  return {
    root,
    update({ isNeeded, wasRefused }) {
      if (root.hidden === !isNeeded) return;
      root.hidden = !isNeeded;
      if (!isNeeded) return;
      hint.textContent = wasRefused
        ? say("The server rejected this token. Check it and try again.")
        : say("This server requires an access token. The token is kept until you close this tab.");
      input.focus();
    },
  };
}
