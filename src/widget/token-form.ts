import { el } from "./dom.ts";

export interface TokenForm {
  readonly root: HTMLElement;
  /** Shows the form, and takes the focus, when it is needed; `wasRefused` after a token did not do. */
  update(state: { readonly isNeeded: boolean; readonly wasRefused: boolean }): void;
}

/** Asks for the API token when the server wants one. */
export function createTokenForm(onToken: (token: string) => void): TokenForm {
  const input = el("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "token-hint",
  });
  const hint = el("p", { id: "token-hint", "aria-live": "polite" });
  const row = el("div", { class: "row" }, input, el("button", { class: "primary" }, "Continue"));
  const label = el("label", { for: "token" }, "Access token");
  const root = el("form", { class: "token", hidden: "" }, label, hint, row);
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    const token = input.value.trim();
    // A header can hold no other characters.
    if (!/^[\x21-\x7e]+$/.test(token)) {
      hint.textContent = "A token is one word without spaces or special letters.";
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
        ? "This token was not accepted. Check it and try again."
        : "The server asks for one. It is kept until this tab is closed.";
      input.focus();
    },
  };
}
